# Written by packages/sdk/generate.ts from the contract.

__version__ = "1.6.0"

#: What the program sends as ``sdk`` when it opens a session.
SDK = "keyward-python/1.6.0"

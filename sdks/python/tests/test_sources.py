"""What the oldest Python that the package supports must be able to read."""

import ast
import sys
import unittest
from pathlib import Path

import keyward

FOLDER = Path(keyward.__file__).parent


class SourcesTest(unittest.TestCase):
    def test_use_the_syntax_of_python_3_9(self) -> None:
        for path in FOLDER.glob("*.py"):
            with self.subTest(path=path.name):
                ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))

    def test_import_nothing_but_the_standard_library_and_cryptography(self) -> None:
        allowed = {"cryptography", "winreg", *getattr(sys, "stdlib_module_names", ())}
        if len(allowed) == 2:
            self.skipTest("this Python does not name its modules")
        for path in FOLDER.glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    self.assertIn(name.split(".")[0], allowed, path.name)

    def test_name_everything_that_is_public(self) -> None:
        for name in keyward.__all__:
            self.assertTrue(hasattr(keyward, name), name)

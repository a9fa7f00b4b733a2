"""Dictionaries of RFC 9651, parsed strictly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Literal, NoReturn, Pattern, Match, Tuple, Union

from .text import from_base64


@dataclass(frozen=True)
class BareItem:
    """A bare item, tagged with its type so that a token is never mistaken for a string."""

    type: Literal["string", "token", "integer", "decimal", "date", "boolean", "bytes"]
    value: Union[str, int, float, bool, bytes]


Parameters = Dict[str, BareItem]
"""Parameters in their original order."""


@dataclass(frozen=True)
class Item:
    value: BareItem
    params: Parameters


@dataclass(frozen=True)
class InnerList:
    items: List[Item]
    params: Parameters


Member = Union[Item, InnerList]


class StructuredFieldError(Exception):
    """The text is not a dictionary by the rules of this parser."""


_MAX_LENGTH = 16_384
_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_TOKEN = re.compile(r"[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*")
_NUMBER = re.compile(r"-?(?:([0-9]{1,12}\.[0-9]{1,3})|([0-9]{1,15}))(?![0-9.])")
_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
_BYTES = re.compile(r":([A-Za-z0-9+/]*={0,2}):")


def parse_dictionary(text: str) -> Dict[str, Member]:
    """
    Parses a dictionary (``Signature``, ``Signature-Input``, ``Content-Digest``) more strictly than the RFC: repeated
    keys are errors, and byte sequences must be canonical base64, so that each value has one spelling.
    """
    if len(text) > _MAX_LENGTH:
        raise StructuredFieldError("The field is too long")
    return _Parser(text).dictionary()


def serialize_string(text: str) -> str:
    """Serializes a string item; the text must be printable ASCII, as every parsed string is."""
    return '"' + re.sub(r'["\\]', r"\\\g<0>", text) + '"'


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def dictionary(self) -> Dict[str, Member]:
        members: Dict[str, Member] = {}
        self._skip(" ")
        while self._at < len(self._text):
            key = self._take(_KEY, "a key").group()
            if key in members:
                self._fail(f"Key {key} is repeated")
            members[key] = self._member()
            self._skip(" \t")
            if self._at == len(self._text):
                break
            if self._next() != ",":
                self._fail("Expected a comma")
            self._at += 1
            self._skip(" \t")
            if self._at == len(self._text):
                self._fail("Unexpected end after a comma")
        return members

    def _member(self) -> Member:
        if self._next() != "=":
            return Item(BareItem("boolean", True), self._parameters())
        self._at += 1
        return self._inner_list() if self._next() == "(" else self._item()

    def _inner_list(self) -> InnerList:
        self._at += 1
        items: List[Item] = []
        while True:
            self._skip(" ")
            if self._next() == ")":
                break
            items.append(self._item())
            if self._next() not in (" ", ")"):
                self._fail("Expected a space or the end of the list")
        self._at += 1
        return InnerList(items, self._parameters())

    def _item(self) -> Item:
        return Item(self._bare_item(), self._parameters())

    def _parameters(self) -> Parameters:
        params: Parameters = {}
        while self._next() == ";":
            self._at += 1
            self._skip(" ")
            key = self._take(_KEY, "a parameter").group()
            if key in params:
                self._fail(f"Parameter {key} is repeated")
            if self._next() == "=":
                self._at += 1
                params[key] = self._bare_item()
            else:
                params[key] = BareItem("boolean", True)
        return params

    def _bare_item(self) -> BareItem:
        first = self._next()
        if first == '"':
            return BareItem("string", re.sub(r"\\(.)", r"\1", self._take(_STRING, "a string").group(1)))
        if first == ":":
            data = from_base64(self._take(_BYTES, "a byte sequence").group(1))
            return BareItem("bytes", self._fail("Not canonical base64") if data is None else data)
        if first == "?":
            flag = self._text[self._at + 1 : self._at + 2]
            if flag not in ("0", "1"):
                self._fail("Expected a boolean")
            self._at += 2
            return BareItem("boolean", flag == "1")
        if first == "@":
            self._at += 1
            is_integer, value = self._number("a date")
            return BareItem("date", value) if is_integer else self._fail("Expected a date")
        if first != "" and first in "-0123456789":
            is_integer, value = self._number("a number")
            return BareItem("integer" if is_integer else "decimal", value)
        return BareItem("token", self._take(_TOKEN, "an item").group())

    def _number(self, what: str) -> Tuple[bool, Union[int, float]]:
        match = self._take(_NUMBER, what)
        is_integer = match.group(2) is not None
        return is_integer, int(match.group()) if is_integer else float(match.group())

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, characters: str) -> None:
        while self._next() != "" and self._next() in characters:
            self._at += 1

    def _take(self, pattern: Pattern[str], what: str) -> Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            self._fail(f"Expected {what}")
        self._at = match.end()
        return match

    def _fail(self, what: str) -> NoReturn:
        raise StructuredFieldError(f"{what} at {self._at}")

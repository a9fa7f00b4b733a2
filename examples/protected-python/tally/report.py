"""Counts the words that a reader sees."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import List

_WORDS_PER_MINUTE = 230
_CODE = re.compile(r"^(```|~~~).*?^\1.*?$", re.MULTILINE | re.DOTALL)
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    name: str
    words: int
    headings: int

    @property
    def minutes(self) -> int:
        return math.ceil(self.words / _WORDS_PER_MINUTE)


def count(name: str, text: str) -> Row:
    """Skips Markdown code blocks and link targets."""
    prose = _COMMENT.sub("", _LINK_TARGET.sub("]", _CODE.sub("", text)))
    return Row(name, len(_WORD.findall(prose)), len(_HEADING.findall(text)))


def total(rows: List[Row]) -> Row:
    return Row("All", sum(row.words for row in rows), sum(row.headings for row in rows))


def to_line(row: Row) -> str:
    return f"{row.name:<24}  {row.words:>7} words  {row.headings:>4} headings  {row.minutes:>4} min"

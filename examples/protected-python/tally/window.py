"""Tally in a window: a button opens each page of the vendor's shop that helps the customer."""

from __future__ import annotations

import queue
import threading
import webbrowser
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Optional, Sequence

from keyward import KeywardError, KeywardNetworkError

from .config import SetupError, remember_key
from .gate import Gate, RefusedError, connect
from .next_step import Page, next_network_step, shop_pages
from .report import count, to_line


@dataclass(frozen=True)
class View:
    """What the window shows."""

    text: str
    pages: Sequence[Page] = ()


class Desk:
    """What the window does, without its widgets."""

    def __init__(self, key: str, file: Path) -> None:
        self._key = key
        self._file = file
        self._gate: Optional[Gate] = None

    def count(self) -> View:
        """One piece of work, after a check: a license that was renewed meanwhile goes on, without a new start."""
        try:
            if self._gate is None:
                self._gate = Gate(connect(), self._key)
                remember_key(self._key)
            self._gate.check()
            row = count(self._file.name, self._file.read_text(encoding="utf-8", errors="replace"))
        except RefusedError as error:
            return View(str(error), error.pages)
        except KeywardNetworkError as error:
            return View(f"The license server cannot be reached. {next_network_step(error)}")
        except (KeywardError, SetupError, OSError) as error:
            return View(str(error))
        return View(to_line(row), shop_pages(self._gate.user.links))


def open_window(desk: Desk) -> None:
    try:
        import tkinter
    except ImportError:
        raise SetupError("This Python has no tkinter, which draws the window.") from None
    try:
        root = tkinter.Tk()
    except tkinter.TclError as error:
        raise SetupError(f"There is no display for a window: {error}.") from None
    root.title("Tally")
    text = tkinter.Label(root, justify="left", wraplength=480)
    text.pack(padx=16, pady=16)
    row = tkinter.Frame(root)
    row.pack(padx=16, pady=(0, 16))
    pages = tkinter.Frame(row)
    pages.pack(side="left")
    views: "queue.Queue[View]" = queue.Queue()

    # Calls wait for the network, so another thread makes them; widgets belong to this one.
    def work() -> None:
        again.config(state="disabled")
        threading.Thread(target=lambda: views.put(desk.count()), daemon=True).start()

    def show(view: View) -> None:
        text.config(text=view.text)
        for old in pages.winfo_children():
            old.destroy()
        for page in view.pages:
            button = tkinter.Button(pages, text=page.name, command=partial(webbrowser.open, page.url))
            button.pack(side="left", padx=(0, 8))
        again.config(state="normal")

    def poll() -> None:
        if not views.empty():
            show(views.get())
        root.after(100, poll)

    again = tkinter.Button(row, text="Count", command=work)
    again.pack(side="left")
    work()
    poll()
    root.mainloop()

"""The sources of the package, and where it keeps its data."""

import ast
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

import keyward
from keyward.user_data import UserDataFile

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


class UserDataTest(unittest.TestCase):
    def test_is_the_same_file_in_every_folder_for_a_user_without_a_home(self) -> None:
        with mock.patch.dict(os.environ, clear=True), mock.patch("os.path.expanduser", return_value="~"):
            path = UserDataFile("k3yw4rd1")._path
        self.assertTrue(os.path.isabs(path), path)

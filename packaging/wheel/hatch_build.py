# SPDX-License-Identifier: MIT
"""Puts what build.py has made into the wheel: the tree that ZARRBRIDGE_WHEEL_TREE names, as the package's folder, with
the tag ZARRBRIDGE_WHEEL_TAG, and the licences of ZARRBRIDGE_WHEEL_LICENCES. Without them the wheel is of Python alone."""
import os
import pathlib

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def files(folder):
    return [path for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()]


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        tree = os.environ.get("ZARRBRIDGE_WHEEL_TREE")
        if not tree:
            return
        licences = os.environ["ZARRBRIDGE_WHEEL_LICENCES"]
        build_data["pure_python"] = False
        build_data["tag"] = os.environ["ZARRBRIDGE_WHEEL_TAG"]
        for path in files(tree):
            build_data["force_include"][str(path)] = f"zarrbridge/{path.relative_to(tree)}"
        for path in files(licences):
            # Beside those of the project's own: extra_metadata would put them into another folder.
            build_data["force_include"][str(path)] = f"zarrbridge-{self.metadata.version}.dist-info/licenses/{path.name}"

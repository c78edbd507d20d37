# SPDX-License-Identifier: MIT
"""The site that tools/docs builds of the Markdown pages: Sphinx reads this file. Its source is the whole tree, so that
the links between pages of all folders are those that work in an editor and on a code host, too."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "zarrbridge"
copyright = "the authors of zarrbridge, MIT licence"  # noqa: A001, the name is Sphinx's
version = release = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)

extensions = ["myst_parser", "breathe"]
root_doc = "docs/index"
include_patterns = ["**.md"]
exclude_patterns = ["build", ".*"]
html_theme = "furo"
html_title = f"zarrbridge {version}"
html_static_path, html_css_files = ["site"], ["site.css"]
html_copy_source = html_show_sourcelink = False

smartquotes = False  # --json stays as it is written
myst_heading_anchors = 4  # as code hosts give them
breathe_projects = {"zarrbridge": str(ROOT / "build/docs-headers/xml"), "sys": str(ROOT / "build/docs-headers/sys/xml")}
breathe_default_project = "zarrbridge"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False

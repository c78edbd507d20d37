# SPDX-License-Identifier: MIT
"""The window *Add Zarr Layer*."""

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import (QCheckBox, QComboBox, QDialog, QDialogButtonBox, QFileDialog, QFormLayout, QHBoxLayout,
                                 QLabel, QLineEdit, QPushButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout)

from . import driver, layers, names, store

ARRAY = Qt.ItemDataRole.UserRole


class AddDialog(QDialog):
    """Opens a store, shows its arrays, and adds layers; `added` is called with each."""

    def __init__(self, parent, added):
        super().__init__(parent)
        self.added = added
        self.setWindowTitle("Add Zarr Layer")
        self.setObjectName("AddZarrLayer")
        self.resize(760, 560)
        self.name = QLineEdit()
        self.name.setPlaceholderText("/data/x.zarr, x.zarr.zip, https://host/x.zarr, s3://bucket/x.zarr")
        self.name.returnPressed.connect(self.open)
        self.tree = QTreeWidget()
        self.tree.setHeaderLabels(["Array", "Shape", "Type", "Times", "Title"])
        self.tree.currentItemChanged.connect(self.show_array)
        self.level = None
        self.ome = QCheckBox("Place by the scales of OME-Zarr (y downwards becomes north up)")
        self.controller = QCheckBox("Set the temporal controller to the layer's times")
        self.controller.setChecked(True)
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.choices = QFormLayout()
        self.ranges = []  # (first, last) of each dimension: combo boxes
        self.lay_out()
        self.show_array(None)
        self.say(driver.told()[1], error=not driver.is_there())

    def lay_out(self):
        """From the name at the top to the buttons."""
        line = QHBoxLayout()
        line.addWidget(self.name)
        for text, work in (("Directory…", self.choose_directory), ("Archive…", self.choose_archive),
                           ("Open", self.open)):
            button = QPushButton(text)
            button.setAutoDefault(False)
            button.clicked.connect(work)
            line.addWidget(button)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.add_button = self.buttons.addButton("Add", QDialogButtonBox.ButtonRole.ActionRole)
        for button in self.buttons.buttons(): # the key Return opens the name, and does no more
            button.setAutoDefault(False)
        self.add_button.clicked.connect(self.add)
        self.buttons.rejected.connect(self.reject)
        whole = QVBoxLayout(self)
        whole.addLayout(line)
        whole.addWidget(self.tree, 1)
        whole.addLayout(self.choices)
        for widget in (self.ome, self.controller, self.message, self.buttons):
            whole.addWidget(widget)

    def choose_directory(self):
        """A store is mostly a directory."""
        self.take(QFileDialog.getExistingDirectory(self, "A Zarr store", self.name.text()))

    def choose_archive(self):
        """Or a file."""
        self.take(QFileDialog.getOpenFileName(self, "A Zarr archive or document", self.name.text(),
                                              "Zarr (*.zarr.zip *.ozx zarr.json);;All files (*)")[0])

    def take(self, name):
        """A chosen name is opened at once."""
        if name:
            self.name.setText(name)
            self.open()

    def say(self, text, error=False):
        """The line above the buttons."""
        self.message.setText(text)
        self.message.setStyleSheet("color: #b00020" if error else "")

    def open(self):
        """Lists the arrays of the store that is named; the first one is chosen."""
        self.tree.clear()
        name = names.from_text(self.name.text())
        try:
            found = store.arrays(name)
        except store.StoreError as error:
            self.say(str(error) if driver.is_there() else driver.told()[1], error=True)
            return
        groups = {}
        for number, array in enumerate(found):
            self.add_item(groups, array, number < store.EAGER)
        self.tree.expandAll()
        for column in range(self.tree.columnCount()):
            self.tree.resizeColumnToContents(column)
        self.say("1 array" if len(found) == 1 else f"{len(found)} arrays")
        self.tree.setCurrentItem(self.first_array(self.tree.invisibleRootItem()))

    def add_item(self, groups, array, look):
        """Groups of the path are branches of the tree."""
        parent, path = self.tree.invisibleRootItem(), ""
        *above, last = array.path.strip("/").split("/")
        for part in above:
            path += "/" + part
            if path not in groups:
                groups[path] = QTreeWidgetItem(parent, [part])
            parent = groups[path]
        item = QTreeWidgetItem(parent, [last or names.title(array.store), array.shape.replace("x", " × "), array.type,
                                        "", array.title])
        item.setData(0, ARRAY, array)
        if look:
            self.look(item)

    def look(self, item):
        """The array's details, and its times in the tree; None, with a reason at the bottom, where there are none."""
        array = item.data(0, ARRAY) if item is not None else None
        if array is None:
            return None
        try:
            details = array.details()
        except store.StoreError as error:
            item.setText(4, str(error))
            return None
        item.setText(3, details.times)
        return details

    def first_array(self, item):
        """Depth first; None in an empty tree."""
        for number in range(item.childCount()):
            child = item.child(number)
            found = child if child.data(0, ARRAY) is not None else self.first_array(child)
            if found is not None:
                return found
        return None

    def show_array(self, item, _before=None):
        """Choices of the array: a range along each further dimension, a level of its pyramid."""
        while self.choices.rowCount() > 0:
            self.choices.removeRow(0)
        self.ranges, self.level, details = [], None, self.look(item)
        self.add_button.setEnabled(details is not None)
        self.ome.setEnabled(details is not None and details.bounds is not None)
        self.ome.setChecked(self.ome.isEnabled())
        if details is None:
            return
        for dimension in details.dimensions:
            self.add_range(dimension)
        self.level = QComboBox()
        self.level.addItem("all, by the scale of the map")
        self.level.addItems(f"{columns} × {rows}" for columns, rows in details.levels)
        self.level.setEnabled(len(details.levels) > 1)
        self.choices.addRow("Pyramid level", self.level)

    def add_range(self, dimension):
        """Two boxes. Of time the whole range is chosen, of other dimensions the first index beside time."""
        first, last, line = QComboBox(), QComboBox(), QHBoxLayout()
        for box in (first, last):
            box.addItems(dimension.labels)
        everything = dimension.is_time or not any(
            other.is_time for other in self.tree.currentItem().data(0, ARRAY).details().dimensions)
        last.setCurrentIndex(len(dimension.labels) - 1 if everything else 0)
        first.currentIndexChanged.connect(lambda at: last.setCurrentIndex(max(at, last.currentIndex())))
        last.currentIndexChanged.connect(lambda at: first.setCurrentIndex(min(at, first.currentIndex())))
        line.addWidget(first, 1)
        line.addWidget(QLabel("to"))
        line.addWidget(last, 1)
        self.choices.addRow(dimension.name, line)
        self.ranges.append((first, last))

    def chosen(self):
        """GDAL's name and the title of what is chosen."""
        array = self.tree.currentItem().data(0, ARRAY)
        details = array.details()
        indices = [(first.currentIndex(), last.currentIndex()) for first, last in self.ranges]
        whole = [(0, len(dimension.labels) - 1) for dimension in details.dimensions]
        name = names.source(array.store, array.path, indices if indices != whole else ())
        if self.ome.isChecked():
            name = store.placed(name, details.bounds)
        if self.level.currentIndex() > 1:
            name = names.with_options(name, OVERVIEW_LEVEL=self.level.currentIndex() - 2)
        elif self.level.currentIndex() == 1:
            name = names.with_options(name, OVERVIEW_LEVEL="NONE")
        return name, names.title(array.store, array.path)

    def add(self):
        """Adds the layer, and leaves the window open for more."""
        try:
            layer = layers.add(layers.make(*self.chosen()))
        except store.StoreError as error:
            self.say(str(error), error=True)
            return
        self.say(f"Added {layer.name()}")
        self.added(layer, self.controller.isChecked())

"""The class of Textual classes of which only complete subclasses can be made.

Only this file joins Textual's class of classes with Python's for abstract ones; `stage.py` and `widgets/cursor_list.py` use it.
"""

from __future__ import annotations

from abc import ABCMeta

from textual.message_pump import _MessagePumpMeta  # the class of all apps' and widgets' classes has no public name


class Abstract(ABCMeta, _MessagePumpMeta):
    """The metaclass of an app or a widget with abstract methods."""

"""Unicode: the space of all texts, which observations and actions belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np

_SURROGATES = range(0xD800, 0xE000)
_CODE_POINTS = 0x110000


class Unicode(gymnasium.Space[str]):
    """Any text, the empty one included.

    `gymnasium.spaces.Text` lists its characters one by one and is alphanumeric by
    default; with all of Unicode it takes seconds and tens of megabytes to build. This
    space holds every `str` and costs nothing.

    Args:
        max_sample_length: The longest text that `sample` draws, in characters. It bounds
            samples only: `contains` accepts texts of any length.
        seed: Seeds `sample`, as in every Gymnasium space.

    Examples:
        >>> space = Unicode(seed=0)
        >>> "SELECT '東京' -- 🗼" in space, "" in space, 7 in space
        (True, True, False)
    """

    def __init__(
        self, max_sample_length: int = 32, seed: int | np.random.Generator | None = None
    ) -> None:
        if max_sample_length < 0:
            raise ValueError(f"max_sample_length must be at least 0, got {max_sample_length}")
        self.max_sample_length = max_sample_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Texts have no fixed length, so they cannot be flattened into an array."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Draws a text of 0 to `max_sample_length` characters, surrogates left out."""
        if mask is not None or probability is not None:
            raise ValueError("Unicode.sample takes neither mask nor probability")
        length = int(self.np_random.integers(self.max_sample_length + 1))
        drawn = self.np_random.integers(_CODE_POINTS - len(_SURROGATES), size=length)
        return "".join(
            chr(point if point < _SURROGATES.start else point + len(_SURROGATES))
            for point in drawn.tolist()
        )

    def contains(self, x: Any) -> bool:
        """Whether `x` is a `str`."""
        return isinstance(x, str)

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """The samples as they are: JSON holds text."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """The inverse of `to_jsonable`."""
        return [str(sample) for sample in sample_n]

    def __eq__(self, other: object) -> bool:
        """All Unicode spaces hold the same texts, whatever they draw."""
        return isinstance(other, Unicode)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Shows the space as it prints in an environment's signature."""
        return "Unicode()"

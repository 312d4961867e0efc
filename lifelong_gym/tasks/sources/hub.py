"""The Hugging Face hub, where LifelongAgentBench is published."""

from __future__ import annotations

import importlib
from pathlib import Path

from lifelong_gym.errors import UsageError

DATASET = "csyq/LifelongAgentBench"
_INSTEAD = (
    f"download https://huggingface.co/datasets/{DATASET} yourself "
    'and say "lifelongagentbench?path=FOLDER"'
)


def download(folder: str) -> Path:
    """The local copy of the data set, with at least its subfolder `folder`.

    Raises:
        UsageError: `huggingface_hub` is not installed, or the hub cannot be reached.
    """
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise UsageError(
            "lifelongagentbench without a path is fetched with huggingface_hub, which is not "
            f"installed. Run: pip install huggingface_hub pyarrow. Or {_INSTEAD}"
        ) from error
    try:
        copy = hub.snapshot_download(
            DATASET, repo_type="dataset", allow_patterns=[f"{folder}/*.parquet"]
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"{DATASET} cannot be fetched: {error}. Or {_INSTEAD}") from error
    return Path(copy)

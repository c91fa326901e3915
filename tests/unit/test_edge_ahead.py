"""Reading a part's files before they are asked for."""

from __future__ import annotations

from pathlib import Path

from memory.longterm.edge_ahead import PIECE, Ahead, read_ahead, spare
from memory.longterm.files import copy_folder, written


def filled(folder: Path) -> Path:
    (folder / "segments" / "one").mkdir(parents=True)
    (folder / "wal").mkdir()
    (folder / "segments" / "one" / "vectors").write_bytes(b"v" * 300_000)
    (folder / "segments" / "empty").write_bytes(b"")
    (folder / "config").write_bytes(b"c" * 5_000)
    (folder / "wal" / "open-1").write_bytes(b"w" * 9_000)
    return folder


def test_everything_but_the_log_is_read(tmp_path: Path) -> None:
    assert read_ahead(filled(tmp_path / "part"), 1 << 30) == 305_000


def test_what_was_never_written_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "part" / "sparse"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.write(b"x" * 4_096)
        file.truncate(64 << 20)
    assert read_ahead(tmp_path / "part", 1 << 30) < 1 << 20


def test_no_more_is_read_than_there_is_room_for(tmp_path: Path) -> None:
    part = filled(tmp_path / "part")
    assert read_ahead(part, -1) == 0
    assert read_ahead(part, 0) == 0
    assert read_ahead(part, 4_096) == 4_096
    (part / "big").write_bytes(b"b" * (3 * PIECE))
    assert read_ahead(part, 2 * PIECE) == 2 * PIECE


def test_all_parts_share_the_room_and_a_rewritten_one_takes_its_own_again(tmp_path: Path) -> None:
    ahead = Ahead(lambda: 700_000)
    first, second, third = (filled(tmp_path / name / "r000001") for name in ("00", "01", "02"))
    assert [ahead.read(first), ahead.read(second), ahead.read(third)] == [305_000, 305_000, 90_000]
    assert ahead.read(filled(tmp_path / "00" / "r000002")) == 305_000
    assert ahead.read(third) == 90_000


def test_the_machines_own_room_is_a_number_of_bytes() -> None:
    assert 0 <= spare() < 1 << 50


def test_a_folder_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    assert read_ahead(tmp_path / "never", 1 << 30) == 0


def test_a_copied_folder_has_the_same_content_and_the_same_emptiness(tmp_path: Path) -> None:
    path = tmp_path / "from" / "log"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.write(b"begin")
        file.seek(8 << 20)
        file.write(b"middle")
        file.truncate(32 << 20)
    copy_folder(tmp_path / "from", tmp_path / "to")
    copied = tmp_path / "to" / "log"
    assert copied.read_bytes() == path.read_bytes()
    assert copied.stat().st_blocks <= path.stat().st_blocks
    with copied.open("rb") as file:
        stretches = list(written(file.fileno()))
    assert sum(end - start for start, end in stretches) < 1 << 20

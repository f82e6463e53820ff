"""`sgl login --keyring` and `sgl logout`: where the key is, and that it is nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testing.customers import Bank, Customer
from tests.client.commanding import ROOT, Desk

INSTEAD = (
    "Without --keyring, `sgl login` stores the key in a file that only you can read; SITEGLASS_API_KEY needs neither."
)


@pytest.fixture
def keyed(customer: Customer, tmp_path: Path) -> Desk:
    """Somebody with a keyring and without a key in the environment."""
    desk = Desk(tmp_path, None, None)
    desk.key = customer.key
    desk.environment["PYTHONPATH"] += f":{ROOT}"
    desk.environment["PYTHON_KEYRING_BACKEND"] = "tests.client.file_keyring.FileKeyring"
    desk.environment["FILE_KEYRING"] = str(tmp_path / "keyring.json")
    return desk


def _passwords(desk: Desk) -> dict[str, str]:
    kept: dict[str, str] = json.loads((desk.folder / "keyring.json").read_text())
    return kept


def test_the_key_is_in_the_keyring_and_in_no_file(keyed: Desk, bank: Bank, customer: Customer) -> None:
    typed = f"{bank.base_url}\n{customer.key}\n"
    done = keyed.run("login", "--keyring", typed=typed)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(" lead credits; the key is in the keyring (File keyring).\n")
    file = keyed.folder / ".config/siteglass/credentials"
    assert json.loads(file.read_text()) == {"url": bank.base_url, "keyring": "File keyring"}
    assert _passwords(keyed) == {f"siteglass {bank.base_url}": customer.key}
    code, shown = keyed.on_terminal("account")
    assert (code, "the keyring (File keyring)" in shown) == (0, True)

    locked = keyed.folder / "keyring.json.locked"
    locked.touch()
    told = keyed.refused(3, "account")
    assert told == (
        "sgl: The key is in the keyring. The system keyring failed. It did not return the key: the collection is "
        "locked. Is it unlocked? Unlock it, set SITEGLASS_API_KEY, or run `sgl login` to store the key in a file that "
        "only you can read."
    )
    told = keyed.refused(2, "logout")
    assert (
        "The key is still in the keyring (File keyring). Run `sgl logout` where the keyring can be unlocked, or "
        f"delete {file}." in told
    )
    locked.unlink()

    done = keyed.run("logout")
    assert (done.code, done.err) == (
        0,
        f"Logged out of {bank.base_url}: its key was removed from the keyring (File keyring). The key itself still "
        "works until it is revoked.\n",
    )
    assert _passwords(keyed) == {}
    assert not file.exists()
    assert "No service URL or API key is set" in keyed.refused(3, "account")
    assert keyed.run("logout").err == "No key is stored.\n"


def test_a_login_without_keyring_moves_the_key_to_the_file(keyed: Desk, bank: Bank, customer: Customer) -> None:
    typed = f"{bank.base_url}\n{customer.key}\n"
    assert keyed.run("login", "--keyring", typed=typed).code == 0
    assert keyed.run("login", typed=typed).code == 0
    assert _passwords(keyed) == {}
    file = keyed.folder / ".config/siteglass/credentials"
    assert json.loads(file.read_text()) == {"url": bank.base_url, "key": customer.key}
    done = keyed.run("logout")
    assert f"its key was removed from {file}." in done.err
    assert not file.exists()


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        (
            "keyring.backends.fail.Keyring",
            "This system has no usable keyring, which is normal without a desktop.",
        ),
        (
            "keyring.backends.null.Keyring",
            "This system has no usable keyring, which is normal without a desktop.",
        ),
        (
            "no_such_package.Keyring",
            "The system keyring cannot be set up: No module named 'no_such_package'.",
        ),
    ],
)
def test_without_a_usable_keyring_it_says_what_to_do(keyed: Desk, backend: str, reason: str) -> None:
    keyed.environment["PYTHON_KEYRING_BACKEND"] = backend
    assert keyed.refused(2, "login", "--keyring") == f"sgl: {reason} {INSTEAD}"  # before anything is asked


def test_without_the_package_it_says_how_to_install_it(keyed: Desk) -> None:
    hidden = keyed.folder / "hidden"
    hidden.mkdir()
    (hidden / "keyring.py").write_text("raise ImportError('not installed')\n")
    keyed.environment["PYTHONPATH"] = f"{hidden}:{keyed.environment['PYTHONPATH']}"
    told = keyed.refused(2, "login", "--keyring")
    install = "pip install './clients/python[keyring]'"
    assert told == f"sgl: This needs keyring. Install it in a checkout of Siteglass: {install}. {INSTEAD}"

"""The credentials of emulated ends as files, as the programs of others read them."""

import stat
import subprocess
from pathlib import Path

import pytest

import slowhand
from conftest import QUICKSTART


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ({}, ["ca.pem", "client.key", "client.pem", "server.key", "server.pem"]),
        (
            {"session.suite": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "session.auth": "server"},
            ["ca.pem", "server.key", "server.pem"],
        ),
    ],
)
def test_openssl_reads_the_certificates_and_keys(
    keys: dict[str, str], names: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "new" / "credentials"
    slowhand.Scenario(QUICKSTART, keys).write_credentials(folder)
    assert sorted(file.name for file in folder.iterdir()) == names
    for file in folder.glob("*.key"):
        certificate = file.with_suffix(".pem")
        openssl("verify", "-CAfile", folder / "ca.pem", certificate)
        of_key = openssl("pkey", "-in", file, "-pubout")
        assert openssl("x509", "-in", certificate, "-noout", "-pubkey") == of_key


def openssl(*arguments: str | Path) -> str:
    command = ["openssl", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_only_the_owner_reads_a_secret_also_where_a_file_was_open_to_all(tmp_path: Path) -> None:
    (tmp_path / "psk.txt").touch(mode=0o666)
    (tmp_path / "psk.txt").chmod(0o666)
    slowhand.Scenario("psk-tinydtls").write_credentials(tmp_path)
    slowhand.Scenario(QUICKSTART).write_credentials(tmp_path)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    secrets = {"psk.txt", "client.key", "server.key"}
    assert {name for name, mode in modes.items() if mode == 0o600} == secrets
    assert len(modes) == 6

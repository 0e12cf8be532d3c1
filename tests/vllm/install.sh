#!/usr/bin/env bash
# install.sh FOLDER: a real vLLM for the CPU and a tiny random model, for the tests marked "vllm".
# 0.5 GB of wheels, 2.1 GB on disk, about a minute. Does nothing where all is there already.
# Needs Python 3.11 on x86-64 (PYTHON=... picks one). Point MOONPRESS_VLLM_VENV at FOLDER.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
python=${PYTHON:-python3}

"$python" -c 'import platform, sys
sys.exit(sys.version_info[:2] != (3, 11) or platform.machine() != "x86_64")' || {
    echo "install.sh: the pinned packages need Python 3.11 on x86-64" >&2
    exit 1
}
pins=$(sha256sum "$here/requirements.txt" | cut -c1-16)
if [ ! -f "$folder/installed-$pins" ]; then
    rm -rf "$folder"
    "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        -r "$here/requirements.txt"
    touch "$folder/installed-$pins"
fi
if [ ! -f "$folder/tiny-model/model.safetensors" ]; then
    "$folder/bin/python" "$here/build_tiny_vlm.py" "$folder/tiny-model"
fi

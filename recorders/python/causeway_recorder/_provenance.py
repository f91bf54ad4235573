"""Finds where a run comes from."""

import os
import socket
import subprocess

# Environment variables of each member, in order of preference.
_VARIABLES = {
    "commit": ("CAUSEWAY_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"),
    "branch": ("CAUSEWAY_BRANCH", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"),
    "scenario": ("CAUSEWAY_SCENARIO",),
    "host": ("CAUSEWAY_HOST",),
    "engine_version": ("CAUSEWAY_ENGINE_VERSION",),
}
_MAX_LENGTH = 200


def find_provenance():
    """Returns commit, branch, scenario, seed, tags, host and engine_version, as far as they are known.

    They come from environment variables; commit and branch also from git in the working directory, and the host from
    the system. CAUSEWAY_TAGS is separated by commas; a CAUSEWAY_SEED that is not a whole number from 0 is ignored.
    """
    found = {}
    for member, names in _VARIABLES.items():
        value = next((os.environ[name].strip() for name in names if os.environ.get(name, "").strip()), None)
        if value is not None:
            found[member] = value[:_MAX_LENGTH]
    if "commit" not in found:
        found = {**_ask_git(), **found}
    found.setdefault("host", socket.gethostname()[:_MAX_LENGTH])
    tags = [tag.strip() for tag in os.environ.get("CAUSEWAY_TAGS", "").split(",") if tag.strip()]
    if tags:
        found["tags"] = tags
    seed = os.environ.get("CAUSEWAY_SEED", "").strip()
    if seed.isdecimal() and int(seed) < 2**53:
        found["seed"] = int(seed)
    return found


def _ask_git():
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD", "--abbrev-ref", "HEAD"], capture_output=True, text=True, timeout=2, check=True
        )
        commit, branch = answer.stdout.split()
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    # A detached head has no branch.
    return {"commit": commit} if branch == "HEAD" else {"commit": commit, "branch": branch}

"""Records a physics simulation to an MCAP file that Causeway diagnoses. Needs nothing but Python 3.9."""

import math
import sys
import time as clock
import warnings
from collections import deque

from . import _mcap
from ._messages import encode, pack_doubles
from ._provenance import find_provenance

__all__ = ["Recorder", "mujoco", "pybullet"]
__version__ = "0.2.0"

_CHUNK_BYTES = 256 * 1024
_CHUNK_SECONDS = 1.0

_CONTACT_COLUMNS = {
    "point": ("contact_point", 3),
    "normal": ("contact_normal", 3),
    "depth": ("contact_depth", 1),
    "tangent1": ("contact_tangent1", 3),
    "tangent2": ("contact_tangent2", 3),
    "friction": ("contact_friction", 1),
    "restitution": ("contact_restitution", 1),
    "normal_impulse": ("contact_normal_impulse", 1),
    "tangent1_impulse": ("contact_tangent1_impulse", 1),
    "tangent2_impulse": ("contact_tangent2_impulse", 1),
}
_WATCHED = ("position", "velocity", "orientation", "angular_velocity", "angular_velocity_world")


class Recorder:
    """Writes frames to an MCAP file. SI units; docs/recorders.md lists the members.

    path: file to create. With `last`, it is created only when something goes wrong.
    bodies: dicts with `id`, and optionally `mass`, `inertia`, `shape`, `is_environment` and others.
    dt: time step in s. gravity: m/s², 3 numbers. engine: name and version.
    lambda_unit: "N·s" if the contact impulses are impulses, "N" if they are forces.
    convention: axes and orders of the engine, if they differ: {"up": "y", "handedness": "left", "quaternion": "xyzw",
        "normal": "b_to_a"}. The numbers are recorded as they are; Causeway converts them.
    commit, branch, scenario, seed, tags, host, engine_version: where the run comes from. By default from the variables
        CAUSEWAY_COMMIT and so on, from those of GitHub and GitLab, and from git.
    last: keeps only the last frames in memory, and writes them when a number is not finite, when an exception ends
        the `with` block or the program, or when `dump()` is called.

    A file that cannot be written never stops the simulation: the first error is a warning, later frames are not
    recorded. An argument that is wrong raises ValueError.
    """

    def __init__(self, path, bodies=(), *, last=None, dt=None, **constants):
        if last is not None and last < 1:
            raise ValueError(f"last is {last}; give the number of frames to keep, from 1")
        self._path = path
        self._run = encode("Run", {**find_provenance(), "dt": dt, **constants, "bodies": list(bodies)})
        self._dt = dt
        self._frame_id = 0
        self._ring = None if last is None else deque(maxlen=last)
        self._is_dumped = False
        self._file = None
        self._failed = False
        self._hook = None
        if self._ring is None:
            self._open()
        else:
            self._install_hook()

    def frame(self, time=None, contacts=None, **columns):
        """Records the state after a step.

        time: s; by default, the number of frames times dt.
        contacts: list of dicts, one per contact point, with `a` and `b` (ids) and optionally `point`, `normal`,
            `depth`, `tangent1`, `tangent2`, `friction`, `restitution`, `normal_impulse`, `tangent1_impulse` and
            `tangent2_impulse`. An empty list: nothing touches. None: contacts are not known.
        columns: `position`, `velocity`, `orientation` (w first), `angular_velocity` (body frame) or
            `angular_velocity_world`, one row per body that moves; `body_id` if bodies are absent; `frame_id`;
            `solver_iterations`, `solver_residual`, `solver_converged`; `force_body`, `force`, `torque`, `force_at`.
        """
        frame_id = columns.pop("frame_id", self._frame_id + 1)
        if time is None and self._dt is not None:
            time = frame_id * self._dt
        message = encode("Frame", {"frame_id": frame_id, "time": time, **columns, **_contact_columns(contacts)})
        self._frame_id = frame_id
        record = (_time_ns(time), message)
        if self._ring is None:
            self._write(_mcap.FRAME, *record)
            return
        self._ring.append(record)
        if not self._is_dumped and any(_has_nonfinite(columns.get(name)) for name in _WATCHED):
            self.dump()

    def dump(self):
        """Writes the frames that `last` keeps, once."""
        if self._ring is None or self._is_dumped:
            return
        self._is_dumped = True
        self._open()
        for record in self._ring:
            self._write(_mcap.FRAME, *record)
        self._close_file()

    def close(self):
        """Completes the file. Frames can no longer be recorded."""
        self._remove_hook()
        self._close_file()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.dump()
        self.close()

    def __del__(self):
        self._close_file()

    def _open(self):
        self._messages = []
        self._bytes = 0
        self._sequence = 0
        try:
            self._file = open(self._path, "wb")
            start = _mcap.start_of_file()
            self._chunks = _mcap.ChunkIndexer(len(start))
            self._file.write(start)
        except OSError as error:
            self._fail(error)
        self._flushed = clock.monotonic()
        self._write(_mcap.RUN, 0, self._run)

    def _write(self, channel, time_ns, data):
        if self._file is None:
            return
        self._sequence += 1
        record = _mcap.message(channel, self._sequence, time_ns, data)
        self._messages.append((channel, time_ns, record))
        self._bytes += len(record)
        if self._bytes >= _CHUNK_BYTES or clock.monotonic() - self._flushed >= _CHUNK_SECONDS:
            self._flush()

    def _flush(self):
        if self._messages:
            try:
                self._file.write(self._chunks.chunk(self._messages))
                self._file.flush()
            except OSError as error:
                self._fail(error)
        self._messages = []
        self._bytes = 0
        self._flushed = clock.monotonic()

    def _close_file(self):
        if getattr(self, "_file", None) is None:
            return
        self._flush()
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.write(self._chunks.end_of_file())
            file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error):
        file, self._file = self._file, None
        if not self._failed:
            warnings.warn(f"{self._path} cannot be written: {error}; the simulation is not recorded", stacklevel=3)
        self._failed = True
        if file is not None:
            try:
                file.close()
            except OSError:
                pass

    def _install_hook(self):
        before = sys.excepthook

        def hook(*details):
            self.dump()
            before(*details)

        self._hook = (hook, before)
        sys.excepthook = hook

    def _remove_hook(self):
        if self._hook is not None and sys.excepthook is self._hook[0]:
            sys.excepthook = self._hook[1]
        self._hook = None


def mujoco(model, data, path="run.mcap", **options):
    """Returns a recorder of a MuJoCo simulation. Call its `step()` after every `mj_step`. Options are those of `Recorder`."""
    import mujoco as engine

    from ._mujoco import MujocoRecorder

    return MujocoRecorder(engine, model, data, path, **options)


def pybullet(p, path="run.mcap", **options):
    """Returns a recorder of a PyBullet simulation. Call its `step()` after every `p.stepSimulation()`."""
    from ._pybullet import PybulletRecorder

    return PybulletRecorder(p, path, **options)


def _time_ns(time):
    return 0 if time is None or not math.isfinite(time) else max(0, round(time * 1e9))


def _contact_columns(contacts):
    if contacts is None:
        return {}
    columns = {"contacts_known": True}
    if len(contacts) == 0:
        return columns
    known = {"a", "b", *_CONTACT_COLUMNS}
    for contact in contacts:
        unknown = set(contact) - known
        if unknown:
            raise ValueError(f"a contact has no member {min(unknown)!r}; its members: {', '.join(sorted(known))}")
    columns["contact_a"] = [contact["a"] for contact in contacts]
    columns["contact_b"] = [contact["b"] for contact in contacts]
    for member, (column, width) in _CONTACT_COLUMNS.items():
        values = [contact.get(member) for contact in contacts]
        if any(value is not None for value in values):
            absent = [None] * width if width > 1 else None
            columns[column] = [absent if value is None else value for value in values]
    return columns


def _has_nonfinite(values):
    if values is None:
        return False
    data = memoryview(pack_doubles(values)).cast("d")
    return not all(map(math.isfinite, data))

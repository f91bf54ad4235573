"""Encodes the messages of causeway.proto. Protobuf needs no library for that: numbers are packed bytes."""

import struct
import sys
from array import array

# Fields of each message: name, number, type. A name of a message is a type; "[]" marks a repeated field.
_SHAPE = (("kind", 1, "string"), ("radius", 2, "double"), ("half_length", 3, "double"))
_BODY = (
    ("id", 1, "uint32"),
    ("mass", 2, "double"),
    ("restitution", 3, "double"),
    ("friction", 4, "double"),
    ("inertia", 5, "double[]"),
    ("half_extents", 6, "double[]"),
    ("is_environment", 7, "bool"),
    ("name", 8, "string"),
    ("shape", 9, "Shape"),
    ("position", 10, "double[]"),
    ("orientation", 11, "double[]"),
    ("group", 12, "uint32"),
    ("ignores", 13, "uint32[]"),
    ("surface_velocity", 14, "double[]"),
)
_RUN = (
    ("engine", 1, "string"),
    ("dt", 2, "double"),
    ("gravity", 3, "double[]"),
    ("lambda_unit", 4, "string"),
    ("bodies", 5, "Body[]"),
    ("convention", 6, "Convention"),
    ("commit", 7, "string"),
    ("branch", 8, "string"),
    ("scenario", 9, "string"),
    ("seed", 10, "uint64"),
    ("tags", 11, "string[]"),
    ("host", 12, "string"),
    ("engine_version", 13, "string"),
    ("substeps", 14, "uint32"),
)
_CONVENTION = (("up", 1, "string"), ("handedness", 2, "string"), ("quaternion", 3, "string"), ("normal", 4, "string"))
_FRAME = (
    ("frame_id", 1, "uint64"),
    ("time", 2, "double"),
    ("wall_time", 3, "double"),
    ("body_id", 4, "uint32[]"),
    ("position", 5, "double[]"),
    ("velocity", 6, "double[]"),
    ("acceleration", 7, "double[]"),
    ("orientation", 8, "double[]"),
    ("angular_velocity", 9, "double[]"),
    ("angular_velocity_world", 10, "double[]"),
    ("angular_acceleration", 11, "double[]"),
    ("contacts_known", 20, "bool"),
    ("contact_a", 21, "uint32[]"),
    ("contact_b", 22, "uint32[]"),
    ("contact_point", 23, "double[]"),
    ("contact_normal", 24, "double[]"),
    ("contact_depth", 25, "double[]"),
    ("contact_tangent1", 26, "double[]"),
    ("contact_tangent2", 27, "double[]"),
    ("contact_friction", 28, "double[]"),
    ("contact_restitution", 29, "double[]"),
    ("contact_normal_impulse", 30, "double[]"),
    ("contact_tangent1_impulse", 31, "double[]"),
    ("contact_tangent2_impulse", 32, "double[]"),
    ("solver_iterations", 40, "double"),
    ("solver_residual", 41, "double"),
    ("solver_converged", 42, "bool"),
    ("force_body", 50, "uint32[]"),
    ("force", 51, "double[]"),
    ("torque", 52, "double[]"),
    ("force_at", 53, "double[]"),
    ("joint_a", 60, "uint32[]"),
    ("joint_b", 61, "uint32[]"),
    ("joint_kind", 62, "uint32[]"),
    ("joint_point", 63, "double[]"),
    ("joint_impulse", 64, "double[]"),
    ("joint_torque", 65, "double[]"),
    ("joint_position_error", 66, "double[]"),
)
_MESSAGES = {"Run": _RUN, "Body": _BODY, "Shape": _SHAPE, "Convention": _CONVENTION, "Frame": _FRAME}
_FIELDS = {
    message: {name: (number, type_) for name, number, type_ in fields} for message, fields in _MESSAGES.items()
}

_DOUBLE = struct.Struct("<d")


def encode(message, values):
    """Returns the bytes of a message. `None` is not written. Raises ValueError for a name that the message lacks."""
    fields = _FIELDS[message]
    parts = []
    for name, value in values.items():
        if name not in fields:
            raise ValueError(f"{message} has no field {name!r}; its fields: {', '.join(fields)}")
        if value is not None:
            number, type_ = fields[name]
            _append(parts, number, type_, value)
    return b"".join(parts)


def _append(parts, number, type_, value):
    if type_ == "double":
        parts.append(_tag(number, 1) + _DOUBLE.pack(value))
    elif type_ in ("uint32", "uint64", "bool"):
        parts.append(_tag(number, 0) + _varint(int(value)))
    elif type_ == "string":
        _append_bytes(parts, number, str(value).encode())
    elif type_ == "double[]":
        _append_bytes(parts, number, pack_doubles(value))
    elif type_ == "uint32[]":
        _append_bytes(parts, number, _pack_integers([int(one) for one in value]))
    elif type_ == "string[]":
        for one in value:
            _append_bytes(parts, number, str(one).encode())
    elif type_.endswith("[]"):
        for one in value:
            _append_bytes(parts, number, encode(type_[:-2], one))
    else:
        _append_bytes(parts, number, encode(type_, value))


def _append_bytes(parts, number, data):
    parts.append(_tag(number, 2) + _varint(len(data)))
    parts.append(data)


def _tag(number, wire_type):
    return _varint(number << 3 | wire_type)


def _varint(value):
    if value < 0:
        raise ValueError(f"{value} is negative; ids and frame ids are whole numbers from 0")
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def _pack_integers(values):
    is_short = all(0 <= value <= 0x7F for value in values)
    return bytes(values) if is_short else b"".join(map(_varint, values))


def pack_doubles(values):
    """Returns float64 bytes of numbers, nested sequences of numbers, or an array of NumPy. `None` becomes NaN."""
    if hasattr(values, "astype"):
        return values.astype("<f8").tobytes()
    try:
        numbers = array("d", values)
    except TypeError:
        numbers = array("d")
        _extend(numbers, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _extend(numbers, values):
    for value in values:
        if value is None:
            numbers.append(float("nan"))
        elif hasattr(value, "__len__"):
            _extend(numbers, value)
        else:
            numbers.append(value)


_TYPES = {"double": 1, "uint64": 4, "bool": 8, "string": 9, "uint32": 13}
_MESSAGE_TYPE = 11


def file_descriptor_set():
    """Returns the FileDescriptorSet of causeway.proto, by which other programs read the messages."""
    file = _field(1, b"causeway.proto") + _field(2, b"causeway.v1")
    for name, fields in _MESSAGES.items():
        message = _field(1, name.encode()) + b"".join(_field(2, _field_descriptor(*field)) for field in fields)
        file += _field(4, message)
    return _field(1, file)


def _field_descriptor(name, number, type_):
    element = type_.removesuffix("[]")
    is_repeated = element != type_
    descriptor = _field(1, name.encode()) + _number(3, number) + _number(4, 3 if is_repeated else 1)
    if element in _MESSAGES:
        return descriptor + _number(5, _MESSAGE_TYPE) + _field(6, b".causeway.v1." + element.encode())
    descriptor += _number(5, _TYPES[element])
    is_packed = is_repeated and element != "string"
    return descriptor + _field(8, _number(2, 1)) if is_packed else descriptor


def _field(number, data):
    return _tag(number, 2) + _varint(len(data)) + data


def _number(number, value):
    return _tag(number, 0) + _varint(value)

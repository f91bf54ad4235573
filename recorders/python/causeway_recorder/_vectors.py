"""Numbers of engines, which are NumPy arrays or lists, as lists of Python."""


def nested(values):
    """Returns the lists of an array; a list as it is."""
    return values.tolist() if hasattr(values, "tolist") else values


def floats(values):
    return [float(value) for value in values]


def is_near(one, other):
    return all(abs(a - b) < 1e-9 for a, b in zip(one, other))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def multiply_quaternions(a, b):
    """Multiplies quaternions with w first."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]

"""A stand-in with the API of PyBullet, for tests where PyBullet cannot be installed: a box that slides on a floor."""

_DT, _MASS, _HALF, _FRICTION, _GRAVITY = 1 / 240, 2.0, 0.2, 0.5, 9.81
_state = {"x": 0.0, "speed": 2.0, "point": [0.0, 0.0, 0.0], "friction": 0.0}


def getNumBodies(physicsClientId=0):
    return 2


def getBodyUniqueId(index, physicsClientId=0):
    return index


def getNumJoints(body, physicsClientId=0):
    return 0


def getNumConstraints(physicsClientId=0):
    return 0


def getPhysicsEngineParameters(physicsClientId=0):
    gravity = {"gravityAccelerationX": 0.0, "gravityAccelerationY": 0.0, "gravityAccelerationZ": -_GRAVITY}
    return {"fixedTimeStep": _DT, **gravity}


def getDynamicsInfo(body, link, physicsClientId=0):
    moment = _MASS * (2 * _HALF) ** 2 / 6
    mass, inertia = (0.0, (0.0,) * 3) if body == 0 else (_MASS, (moment,) * 3)
    friction = 1.0 if body == 0 else _FRICTION
    return (mass, friction, inertia, (0.0,) * 3, (0.0, 0.0, 0.0, 1.0), 0.0, 0.0, 0.0, -1.0, -1.0, 2, 0.001)


def getCollisionShapeData(body, link, physicsClientId=0):
    kind, size = (6, (0.0, 0.0, 1.0)) if body == 0 else (3, (2 * _HALF,) * 3)
    return ((body, -1, kind, size, b"", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)),)


def getBasePositionAndOrientation(body, physicsClientId=0):
    position = (0.0, 0.0, 0.0) if body == 0 else (_state["x"], 0.0, _HALF)
    return position, (0.0, 0.0, 0.0, 1.0)


def getBaseVelocity(body, physicsClientId=0):
    return (_state["speed"], 0.0, 0.0), (0.0, 0.0, 0.0)


def getContactPoints(physicsClientId=0):
    load, point = _MASS * _GRAVITY, _state["point"]
    along, across = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    return ((0, 1, 0, -1, -1, point, point, (0.0, 0.0, 1.0), 0.0, load, -_state["friction"], along, 0.0, across),)


def stepSimulation(physicsClientId=0):
    load = _MASS * _GRAVITY
    friction = min(_FRICTION * load, _MASS * _state["speed"] / _DT)
    # The pressure moves forward, so that the box does not tip.
    _state["point"] = [_state["x"] + _HALF * friction / load, 0.0, 0.0]
    _state["friction"] = friction
    _state["speed"] -= friction / _MASS * _DT
    _state["x"] += _state["speed"] * _DT
    return ({"numIterationsUsed": 1, "remainingResidual": 0.0},)

"""Records PyBullet simulations. Not run with PyBullet by our tests, but with a stand-in of its API."""

import atexit

from . import Recorder

# By the type of a shape in PyBullet.
_SPHERE, _BOX, _PLANE = 2, 3, 6
_DEFAULT_STEP, _DEFAULT_ITERATIONS = 1 / 240, 50


class PybulletRecorder:
    """Call `step()` after every `p.stepSimulation()`. The file is completed by `close()`, or at the end of the program.

    Bodies without mass are the environment. Bodies with links are rejected: their links are not recorded yet. PyBullet
    reports contacts as forces along a normal on b towards a, and the centre of mass as the position of a base.
    """

    def __init__(self, p, path="run.mcap", *, client=0, **options):
        self._p, self._client = p, client
        bodies = [p.getBodyUniqueId(i, physicsClientId=client) for i in range(p.getNumBodies(physicsClientId=client))]
        for body in bodies:
            if p.getNumJoints(body, physicsClientId=client) > 0:
                raise ValueError(f"body {body} has links, which are not recorded yet; record it with Recorder and groups")
        described = [self._describe(body) for body in bodies]
        self._moving = [body["id"] for body in described if not body.get("is_environment")]
        parameters = p.getPhysicsEngineParameters(physicsClientId=client)
        self._max_iterations = parameters.get("numSolverIterations", _DEFAULT_ITERATIONS)
        constants = {
            "engine": "PyBullet",
            "dt": parameters.get("fixedTimeStep", _DEFAULT_STEP),
            "gravity": [parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"],
            "lambda_unit": "N",
            "convention": {"quaternion": "xyzw", "normal": "b_to_a"},
            **options,
        }
        self._recorder = Recorder(path, described, **constants)
        atexit.register(self.close)

    def step(self, solver=None):
        """Records the state after a step. solver: what `p.stepSimulation()` returns with `reportSolverAnalytics`."""
        p, client = self._p, self._client
        poses = [p.getBasePositionAndOrientation(body, physicsClientId=client) for body in self._moving]
        motions = [p.getBaseVelocity(body, physicsClientId=client) for body in self._moving]
        self._recorder.frame(
            contacts=[self._contact(row) for row in p.getContactPoints(physicsClientId=client)],
            position=[pose[0] for pose in poses],
            orientation=[pose[1] for pose in poses],
            velocity=[motion[0] for motion in motions],
            angular_velocity_world=[motion[1] for motion in motions],
            **_describe_solver(solver, self._max_iterations),
        )

    def dump(self):
        """Writes the frames that `last` keeps."""
        self._recorder.dump()

    def close(self):
        atexit.unregister(self.close)
        self._recorder.close()

    def _describe(self, body):
        p, client = self._p, self._client
        mass, friction, inertia, _, _, restitution, *_ = p.getDynamicsInfo(body, -1, physicsClientId=client)
        surface = {"friction": friction, "restitution": restitution, **self._shape(body)}
        if mass == 0:
            position, orientation = p.getBasePositionAndOrientation(body, physicsClientId=client)
            return {"id": body, "is_environment": True, "position": list(position), "orientation": list(orientation), **surface}
        return {"id": body, "mass": mass, "inertia": list(inertia), **surface}

    def _shape(self, body):
        """The shape of a body with one shape around its centre of mass."""
        shapes = self._p.getCollisionShapeData(body, -1, physicsClientId=self._client)
        if len(shapes) != 1:
            return {}
        kind, size, place, turn = shapes[0][2], shapes[0][3], shapes[0][5], shapes[0][6]
        if any(abs(part) > 1e-9 for part in place) or abs(turn[3]) < 1 - 1e-9:
            return {}
        if kind == _SPHERE:
            return {"shape": {"kind": "sphere", "radius": size[0]}}
        if kind == _BOX:
            return {"shape": {"kind": "box"}, "half_extents": [part / 2 for part in size]}
        return {"shape": {"kind": "plane"}} if kind == _PLANE else {}

    def _contact(self, row):
        on_a, on_b, normal, distance, force = row[5], row[6], row[7], row[8], row[9]
        friction1, direction1, friction2, direction2 = row[10], row[11], row[12], row[13]
        return {
            "a": row[1],
            "b": row[2],
            "point": [(one + other) / 2 for one, other in zip(on_a, on_b)],
            "normal": list(normal),
            "depth": -distance,
            "friction": self._friction(row[1]) * self._friction(row[2]),
            "normal_impulse": force,
            "tangent1": list(direction1),
            "tangent2": list(direction2),
            "tangent1_impulse": friction1,
            "tangent2_impulse": friction2,
        }

    def _friction(self, body):
        return self._p.getDynamicsInfo(body, -1, physicsClientId=self._client)[1]


def _describe_solver(reports, max_iterations):
    if not reports:
        return {}
    iterations = max(report["numIterationsUsed"] for report in reports)
    return {
        "solver_iterations": iterations,
        "solver_residual": max(report["remainingResidual"] for report in reports),
        "solver_converged": iterations < max_iterations,
    }

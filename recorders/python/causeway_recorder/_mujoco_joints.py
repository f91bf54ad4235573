# cspell:ignore cfrc linalg xanchor jntadr jntnum parentid rootid qacc eulerdamp mjdsbl disableflags fullm neq xpos subtree qvel mjtjoint -- names of MuJoCo
"""Joints of MuJoCo and their reactions."""

import math

from ._vectors import cross, nested

# Kinds of joints by their number in causeway.proto, and by mjtJoint: free, ball, slide, hinge.
_OTHER, _FIXED, _HINGE, _SLIDER, _BALL = range(5)
_KINDS = {1: _BALL, 2: _SLIDER, 3: _HINGE}
_EQUALITIES = {0: _BALL, 1: _FIXED}
_FREE, _EULER, _EQUALITY = 0, 0, 0
_UNKNOWN = [float("nan")] * 3


def measure_reactions(mujoco, model, data):
    """Returns the force of each body's parent on it: torque and force about the centre of mass of the tree, N·m and N.

    None if the integrator applies forces that MuJoCo does not report. Call it after `mj_step`, before other functions
    change `data`. `mj_rnePostConstraint` computes the forces from `qacc` and `qvel`. `mj_step` has advanced `qvel` by then,
    and with damping the semi-implicit Euler integrator used (M + dt D)⁻¹ M qacc: both are set to what the step used, and
    restored.
    """
    is_damped = any(damping > 0 for damping in nested(model.dof_damping))
    if int(model.opt.integrator) != _EULER and (is_damped or model.nu > 0):
        return None
    acceleration, velocity = data.qacc.copy(), data.qvel.copy()
    is_implicit = is_damped and not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    data.qacc[:] = _damp(mujoco, model, data) if is_implicit else acceleration
    data.qvel[:] = velocity - float(model.opt.timestep) * data.qacc
    mujoco.mj_rnePostConstraint(model, data)
    reactions = nested(data.cfrc_int)
    data.qacc[:], data.qvel[:] = acceleration, velocity
    return reactions


def _damp(mujoco, model, data):
    """Solves (M + dt D) x = M qacc."""
    import numpy

    mass = numpy.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, mass)
    except TypeError:  # Before MuJoCo 3.4.
        mujoco.mj_fullM(model, mass, data.qM)
    damped = mass + float(model.opt.timestep) * numpy.diag(model.dof_damping)
    return numpy.linalg.solve(damped, mass @ data.qacc)


def joint_columns(model, data, moving, reactions):
    """Columns of the joints of the moving bodies, and of equality constraints, whose forces are not known."""
    dt = float(model.opt.timestep)
    rows = []
    for body in moving:
        count, first = int(model.body_jntnum[body]), int(model.body_jntadr[body])
        if count > 0 and int(model.jnt_type[first]) == _FREE:
            continue
        kind = _FIXED if count == 0 else _KINDS.get(int(model.jnt_type[first]), _OTHER) if count == 1 else _OTHER
        point = nested(data.xpos[body] if count == 0 else data.xanchor[first])
        impulse = torque = _UNKNOWN
        if reactions is not None:
            force = reactions[body][3:]
            centre = nested(data.subtree_com[model.body_rootid[body]])
            turned = cross([centre[i] - point[i] for i in range(3)], force)
            impulse = [part * dt for part in force]
            torque = [(reactions[body][i] + turned[i]) * dt for i in range(3)]
        rows.append((body, int(model.body_parentid[body]), kind, point, impulse, torque, None))
    for i in range(model.neq):
        kind = _EQUALITIES.get(int(model.eq_type[i]))
        if kind is not None and data.eq_active[i]:
            ends = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            rows.append((*ends, kind, _UNKNOWN, _UNKNOWN, _UNKNOWN, _measure_error(data, i)))
    if not rows:
        return {}
    a, b, kinds, points, impulses, torques, errors = zip(*rows)
    columns = {"joint_a": a, "joint_b": b, "joint_kind": kinds, "joint_point": points}
    known = {"joint_impulse": impulses, "joint_torque": torques} if reactions is not None else {}
    drift = {"joint_position_error": errors} if any(error is not None for error in errors) else {}
    return {**columns, **known, **drift}


def _measure_error(data, constraint):
    """The distance of the two ends of an equality constraint: its first three rows in `efc_pos`."""
    for row, (kind, number) in enumerate(zip(nested(data.efc_type), nested(data.efc_id))):
        if kind == _EQUALITY and number == constraint:
            return math.hypot(*nested(data.efc_pos[row : row + 3]))
    return None


def list_groups(model):
    """Returns the group of each body: the root of its tree, or the lowest root of the trees that equality constraints connect.

    Forces between such trees are not known.
    """
    roots = [int(root) for root in model.body_rootid]
    for i in range(model.neq):
        if int(model.eq_type[i]) not in _EQUALITIES:
            continue
        ends = {roots[int(model.eq_obj1id[i])], roots[int(model.eq_obj2id[i])]}
        if 0 not in ends:
            roots = [min(ends) if root in ends else root for root in roots]
    return roots


def list_ignored(model, groups):
    """Returns the later bodies with which each body makes no contacts.

    The reasons are `exclude`, or `contype` and `conaffinity` of all their geoms. A `pair` of geoms makes contacts nevertheless.
    """
    count = int(model.nbody)
    owners = [int(body) for body in model.geom_bodyid]
    types, affinities = [0] * count, [0] * count
    for geom, body in enumerate(owners):
        types[body] |= int(model.geom_contype[geom])
        affinities[body] |= int(model.geom_conaffinity[geom])
    pairs = {
        frozenset((owners[int(model.pair_geom1[i])], owners[int(model.pair_geom2[i])])) for i in range(int(model.npair))
    }
    # A signature is the first body in the upper 16 bits, and the second.
    signatures = [int(model.exclude_signature[i]) for i in range(int(model.nexclude))]
    excluded = {frozenset((signature >> 16, signature & 0xFFFF)) for signature in signatures}
    fixed = [int(model.body_weldid[body]) == 0 for body in range(count)]
    shaped = [int(model.body_geomnum[body]) > 0 for body in range(count)]

    def is_ignored(a, b):
        # Replay allows overlaps within a group of moving bodies.
        is_related = fixed[b] if fixed[a] else not fixed[b] and groups[a] == groups[b]
        if is_related or not (shaped[a] and shaped[b]) or frozenset((a, b)) in pairs:
            return False
        is_masked = not (types[a] & affinities[b] or types[b] & affinities[a])
        return is_masked or frozenset((a, b)) in excluded

    return [[b for b in range(a + 1, count) if is_ignored(a, b)] for a in range(count)]

/** Encodes the messages of causeway.proto. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** Fields of each message: number and type. `[]` marks a repeated field. */
const messages = {
  Shape: { kind: [1, 'string'], radius: [2, 'double'], half_length: [3, 'double'] },
  Body: {
    id: [1, 'uint32'],
    mass: [2, 'double'],
    restitution: [3, 'double'],
    friction: [4, 'double'],
    inertia: [5, 'double[]'],
    half_extents: [6, 'double[]'],
    is_environment: [7, 'bool'],
    name: [8, 'string'],
    shape: [9, 'Shape'],
    position: [10, 'double[]'],
    orientation: [11, 'double[]'],
    group: [12, 'uint32'],
    ignores: [13, 'uint32[]'],
    surface_velocity: [14, 'double[]'],
  },
  Convention: {
    up: [1, 'string'],
    handedness: [2, 'string'],
    quaternion: [3, 'string'],
    normal: [4, 'string'],
  },
  Run: {
    engine: [1, 'string'],
    dt: [2, 'double'],
    gravity: [3, 'double[]'],
    lambda_unit: [4, 'string'],
    bodies: [5, 'Body[]'],
    convention: [6, 'Convention'],
    commit: [7, 'string'],
    branch: [8, 'string'],
    scenario: [9, 'string'],
    seed: [10, 'uint64'],
    tags: [11, 'string[]'],
    host: [12, 'string'],
    engine_version: [13, 'string'],
    substeps: [14, 'uint32'],
  },
  Frame: {
    frame_id: [1, 'uint64'],
    time: [2, 'double'],
    wall_time: [3, 'double'],
    body_id: [4, 'uint32[]'],
    position: [5, 'double[]'],
    velocity: [6, 'double[]'],
    acceleration: [7, 'double[]'],
    orientation: [8, 'double[]'],
    angular_velocity: [9, 'double[]'],
    angular_velocity_world: [10, 'double[]'],
    angular_acceleration: [11, 'double[]'],
    contacts_known: [20, 'bool'],
    contact_a: [21, 'uint32[]'],
    contact_b: [22, 'uint32[]'],
    contact_point: [23, 'double[]'],
    contact_normal: [24, 'double[]'],
    contact_depth: [25, 'double[]'],
    contact_tangent1: [26, 'double[]'],
    contact_tangent2: [27, 'double[]'],
    contact_friction: [28, 'double[]'],
    contact_restitution: [29, 'double[]'],
    contact_normal_impulse: [30, 'double[]'],
    contact_tangent1_impulse: [31, 'double[]'],
    contact_tangent2_impulse: [32, 'double[]'],
    solver_iterations: [40, 'double'],
    solver_residual: [41, 'double'],
    solver_converged: [42, 'bool'],
    force_body: [50, 'uint32[]'],
    force: [51, 'double[]'],
    torque: [52, 'double[]'],
    force_at: [53, 'double[]'],
    joint_a: [60, 'uint32[]'],
    joint_b: [61, 'uint32[]'],
    joint_kind: [62, 'uint32[]'],
    joint_point: [63, 'double[]'],
    joint_impulse: [64, 'double[]'],
    joint_torque: [65, 'double[]'],
    joint_position_error: [66, 'double[]'],
  },
}

/**
 * Returns the bytes of a message. `undefined` and null are not written. Throws `TypeError` for a member that the message
 * lacks.
 *
 * @param {keyof typeof messages} name
 * @param {Record<string, any>} values
 * @returns {Uint8Array}
 */
export function encode(name, values) {
  const fields = messages[name]
  const writer = new BinaryWriter()
  for (const [member, value] of Object.entries(values)) {
    const field = fields[member]
    if (field === undefined)
      throw new TypeError(`${name} has no member ${member}; its members: ${Object.keys(fields).join(', ')}`)
    if (value !== undefined && value !== null) writeField(writer, field, value)
  }
  return writer.finish()
}

function writeField(writer, [number, type], value) {
  const bytes = (data) => writer.tag(number, WireType.LengthDelimited).bytes(data)
  switch (type) {
    case 'double':
      return writer.tag(number, WireType.Bit64).double(value)
    case 'uint32':
      return writer.tag(number, WireType.Varint).uint32(value)
    case 'uint64':
      return writer.tag(number, WireType.Varint).uint64(value)
    case 'bool':
      return writer.tag(number, WireType.Varint).bool(value)
    case 'string':
      return writer.tag(number, WireType.LengthDelimited).string(value)
    case 'double[]':
      return bytes(packDoubles(value))
    case 'uint32[]': {
      const packed = new BinaryWriter()
      for (const one of value) packed.uint32(one)
      return bytes(packed.finish())
    }
  }
  if (type === 'string[]') {
    for (const one of value) writer.tag(number, WireType.LengthDelimited).string(one)
    return
  }
  if (!type.endsWith('[]')) return bytes(encode(type, value))
  for (const one of value) bytes(encode(type.slice(0, -2), one))
}

/** Returns float64 bytes of a typed array, a list of numbers or a list of rows. null becomes NaN. */
function packDoubles(values) {
  const numbers = ArrayBuffer.isView(values) ? toFloat64(values) : flatten(values)
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
}

const toFloat64 = (values) => (values instanceof Float64Array ? values : Float64Array.from(values))

function flatten(values) {
  let size = 0
  for (const value of values) size += isRow(value) ? value.length : 1
  const numbers = new Float64Array(size)
  let at = 0
  for (const value of values) {
    if (!isRow(value)) numbers[at++] = value ?? Number.NaN
    else for (let i = 0; i < value.length; i++) numbers[at++] = value[i] ?? Number.NaN
  }
  return numbers
}

const isRow = (value) => Array.isArray(value) || ArrayBuffer.isView(value)

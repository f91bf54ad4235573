/** Decodes the messages of `recorders/causeway.proto`. */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** Plural names are repeated fields: packed, or one value per tag. */
type FieldType =
  | 'double'
  | 'uint32'
  | 'uint64'
  | 'bool'
  | 'string'
  | 'strings'
  | 'doubles'
  | 'uint32s'
  | { readonly message: MessageType; readonly isRepeated?: true }

interface MessageType {
  readonly [field: number]: readonly [name: string, type: FieldType]
}

const shape: MessageType = { 1: ['kind', 'string'], 2: ['radius', 'double'], 3: ['half_length', 'double'] }

export const bodyMessage: MessageType = {
  1: ['id', 'uint32'],
  2: ['mass', 'double'],
  3: ['restitution', 'double'],
  4: ['friction', 'double'],
  5: ['inertia', 'doubles'],
  6: ['half_extents', 'doubles'],
  7: ['is_environment', 'bool'],
  8: ['name', 'string'],
  9: ['shape', { message: shape }],
  10: ['position', 'doubles'],
  11: ['orientation', 'doubles'],
  12: ['group', 'uint32'],
  13: ['ignores', 'uint32s'],
  14: ['surface_velocity', 'doubles'],
}

const convention: MessageType = {
  1: ['up', 'string'],
  2: ['handedness', 'string'],
  3: ['quaternion', 'string'],
  4: ['normal', 'string'],
}

export const runMessage: MessageType = {
  1: ['engine', 'string'],
  2: ['dt', 'double'],
  3: ['gravity', 'doubles'],
  4: ['lambda_unit', 'string'],
  5: ['bodies', { message: bodyMessage, isRepeated: true }],
  6: ['convention', { message: convention }],
  7: ['commit', 'string'],
  8: ['branch', 'string'],
  9: ['scenario', 'string'],
  10: ['seed', 'uint64'],
  11: ['tags', 'strings'],
  12: ['host', 'string'],
  13: ['engine_version', 'string'],
  14: ['substeps', 'uint32'],
}

export const frameMessage: MessageType = {
  1: ['frame_id', 'uint64'],
  2: ['time', 'double'],
  3: ['wall_time', 'double'],
  4: ['body_id', 'uint32s'],
  5: ['position', 'doubles'],
  6: ['velocity', 'doubles'],
  7: ['acceleration', 'doubles'],
  8: ['orientation', 'doubles'],
  9: ['angular_velocity', 'doubles'],
  10: ['angular_velocity_world', 'doubles'],
  11: ['angular_acceleration', 'doubles'],
  20: ['contacts_known', 'bool'],
  21: ['contact_a', 'uint32s'],
  22: ['contact_b', 'uint32s'],
  23: ['contact_point', 'doubles'],
  24: ['contact_normal', 'doubles'],
  25: ['contact_depth', 'doubles'],
  26: ['contact_tangent1', 'doubles'],
  27: ['contact_tangent2', 'doubles'],
  28: ['contact_friction', 'doubles'],
  29: ['contact_restitution', 'doubles'],
  30: ['contact_normal_impulse', 'doubles'],
  31: ['contact_tangent1_impulse', 'doubles'],
  32: ['contact_tangent2_impulse', 'doubles'],
  40: ['solver_iterations', 'double'],
  41: ['solver_residual', 'double'],
  42: ['solver_converged', 'bool'],
  50: ['force_body', 'uint32s'],
  51: ['force', 'doubles'],
  52: ['torque', 'doubles'],
  53: ['force_at', 'doubles'],
  60: ['joint_a', 'uint32s'],
  61: ['joint_b', 'uint32s'],
  62: ['joint_kind', 'uint32s'],
  63: ['joint_point', 'doubles'],
  64: ['joint_impulse', 'doubles'],
  65: ['joint_torque', 'doubles'],
  66: ['joint_position_error', 'doubles'],
}

export type Fields = Record<string, unknown>

/** Skips unknown fields, as Protobuf requires. Throws `RangeError` or `Error` for malformed bytes. */
export function decodeMessage(bytes: Uint8Array, type: MessageType): Fields {
  const reader = new BinaryReader(bytes)
  const fields: Fields = {}
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const [name, fieldType] = type[number] ?? []
    if (name === undefined || fieldType === undefined) reader.skip(wireType, number)
    else fields[name] = readField(reader, wireType, fieldType, fields[name])
  }
  return fields
}

function readField(reader: BinaryReader, wireType: WireType, type: FieldType, before: unknown): unknown {
  const isPacked = wireType === WireType.LengthDelimited
  switch (type) {
    case 'double':
      return reader.double()
    case 'uint32':
      return reader.uint32()
    case 'uint64':
      return Number(reader.uint64())
    case 'bool':
      return reader.bool()
    case 'string':
      return reader.string()
    case 'strings':
      return appendValues(before, [reader.string()])
    case 'doubles':
      return appendValues(before, isPacked ? toDoubles(reader.bytes()) : [reader.double()])
    case 'uint32s':
      return appendValues(before, isPacked ? toIntegers(reader.bytes()) : [reader.uint32()])
  }
  const decoded = decodeMessage(reader.bytes(), type.message)
  return type.isRepeated ? appendValues(before, [decoded]) : decoded
}

/** Protobuf allows sending a repeated field in parts. */
const appendValues = (before: unknown, part: ArrayLike<unknown>): ArrayLike<unknown> =>
  before === undefined ? part : [...Array.from(before as ArrayLike<unknown>), ...Array.from(part)]

function toDoubles(bytes: Uint8Array): Float64Array {
  if (bytes.length % 8 !== 0) throw new RangeError('a packed list of doubles is not a multiple of 8 bytes')
  // Copies the bytes for alignment. Protobuf and all supported platforms are little-endian.
  return new Float64Array(bytes.slice().buffer)
}

function toIntegers(bytes: Uint8Array): number[] {
  const reader = new BinaryReader(bytes)
  const values: number[] = []
  while (reader.pos < reader.len) values.push(reader.uint32())
  return values
}

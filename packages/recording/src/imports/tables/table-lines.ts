import type { NamedColumn } from '../../domain/imports/column-names.ts'
import {
  anyBody,
  type ColumnSlice,
  type MappedBody,
  rejectMapping,
  type TableMapping,
} from '../../domain/imports/table-mapping.ts'
import { TimeOrigin } from '../time-origin.ts'
import { type Batch, createDamageError, createLimitError, type Values } from './table.ts'

const maxBodies = 10_000

interface TableFile {
  readonly columns: readonly NamedColumn[]
  readonly path: string
  readonly format: string
}

type FrameBody = Record<string, unknown>

export class TableLines {
  readonly #mapping: TableMapping
  readonly #file: TableFile
  readonly #widths: ReadonlyMap<string, number>
  readonly #origin: TimeOrigin
  readonly #ids = new Map<string, number>()
  readonly #skippedRows = new Map<string, number>()
  #row = 0
  #omittedRows = 0
  #frameCount = 0
  #lastTime = Number.NEGATIVE_INFINITY
  /** The incomplete frame of a table with a row per body. */
  #openFrame:
    | { readonly frame: Record<string, unknown>; readonly key: unknown; readonly bodies: FrameBody[] }
    | undefined

  constructor(mapping: TableMapping, file: TableFile) {
    this.#mapping = mapping
    this.#file = file
    this.#widths = new Map(file.columns.map(({ name, width }) => [name, width]))
    this.#origin = new TimeOrigin('column' in mapping.time ? mapping.time.perSecond : 1)
  }

  get notes(): readonly string[] {
    const { time } = this.#mapping
    const skippedNotes = [...this.#skippedRows].map(
      ([name, rows]) => `${rows} rows of ${name}, which the mapping does not name, were left out`,
    )
    return [
      ...(this.#origin.isRelative
        ? ['times are relative to the first one; wall_time has the times of the file']
        : []),
      ...('step' in time ? [`the file has no times: rows are ${time.step} s apart, from 0`] : []),
      ...(this.#omittedRows > 0
        ? [`${this.#omittedRows} of ${this.#row} rows were left out, as where says`]
        : []),
      ...skippedNotes.slice(0, 20),
    ]
  }

  *start(): Generator<object> {
    const { run, order, bodies } = this.#mapping
    const convention = {
      ...(run.convention as object | undefined),
      ...(order === null ? {} : { quaternion: order }),
    }
    const namedBodies = bodies.filter(({ name }) => name !== anyBody)
    yield {
      run: {
        engine: `${this.#file.format} file`,
        ...run,
        ...(Object.keys(convention).length === 0 ? {} : { convention }),
        bodies: namedBodies.map((body) => this.#declareBody(body.name, body)),
      },
    }
  }

  *push(batch: Batch): Generator<object> {
    const rows = new BatchReader(batch, this.#widths)
    for (let i = 0; i < batch.count; i++) {
      this.#row += 1
      if (!this.#mapping.where.every(({ column, value }) => rows.equals(column, i, value)))
        this.#omittedRows += 1
      else yield* this.#mapping.bodyColumn === null ? this.#readWide(rows, i) : this.#readLong(rows, i)
    }
  }

  *end(): Generator<object> {
    if (this.#openFrame !== undefined) yield this.#openFrame.frame
    this.#openFrame = undefined
  }

  #declareBody(name: string, { constants }: MappedBody): object {
    const id = this.#ids.size + 1
    this.#ids.set(name, id)
    if (this.#ids.size > maxBodies)
      throw createLimitError(`the file has ${this.#ids.size} bodies`, maxBodies, this.#file.path)
    return { id, name: name.slice(0, 64), ...constants }
  }

  *#readWide(rows: BatchReader, i: number): Generator<object> {
    const bodies = this.#mapping.bodies
      .filter(({ columns }) => Object.keys(columns).length > 0)
      .map((body) => readBody(body, this.#ids.get(body.name) ?? 0, rows, i))
    yield { ...this.#readFrame(rows, i), bodies }
  }

  /** Merges consecutive rows with the same frame or time into a frame. */
  *#readLong(rows: BatchReader, i: number): Generator<object> {
    const { bodyColumn, bodies, frame, time } = this.#mapping
    const name = rows.text(bodyColumn ?? '', i)
    const mappedBody =
      bodies.find((body) => body.name === name) ?? bodies.find((body) => body.name === anyBody)
    if (mappedBody === undefined) {
      this.#skippedRows.set(name, (this.#skippedRows.get(name) ?? 0) + 1)
      return
    }
    const key =
      frame !== null
        ? rows.value(frame, i)
        : 'column' in time
          ? rows.value(time.column, i)
          : rejectMapping('frame', 'a column, because several rows are a frame')
    if (!this.#ids.has(name)) yield { run: { bodies: [this.#declareBody(name, mappedBody)] } }
    if (this.#openFrame === undefined || this.#openFrame.key !== key) {
      if (this.#openFrame !== undefined) yield this.#openFrame.frame
      const frameBodies: FrameBody[] = []
      this.#openFrame = {
        frame: { ...this.#readFrame(rows, i), bodies: frameBodies },
        key,
        bodies: frameBodies,
      }
    }
    this.#openFrame.bodies.push(readBody(mappedBody, this.#ids.get(name) ?? 0, rows, i))
  }

  #readFrame(rows: BatchReader, i: number): Record<string, unknown> {
    const { time, frame } = this.#mapping
    this.#frameCount += 1
    const frameTime =
      'column' in time
        ? this.#origin.convert(rows.value(time.column, i))
        : { time: (this.#frameCount - 1) * time.step }
    if (!Number.isFinite(frameTime.time)) throw this.#createTimeError('is not a finite number')
    if (frameTime.time <= this.#lastTime)
      throw this.#createTimeError(`${frameTime.time} is not after ${this.#lastTime}`)
    this.#lastTime = frameTime.time
    return { frame_id: frame === null ? this.#frameCount : Number(rows.value(frame, i)), ...frameTime }
  }

  #createTimeError(problem: string) {
    return createDamageError(
      `row ${this.#row}: the time ${problem}; give one run with its rows in order of time, or select its rows with where`,
      this.#file.path,
    )
  }
}

function readBody({ columns, spinFrame }: MappedBody, id: number, rows: BatchReader, i: number): FrameBody {
  const { position, quaternion, velocity, angular_velocity, acceleration } = columns
  const body: FrameBody = { id }
  if (position) body.position = rows.numbers(position, i)
  if (quaternion) body.orientation = rows.numbers(quaternion, i)
  if (velocity) body.velocity = rows.numbers(velocity, i)
  if (acceleration) body.acceleration = rows.numbers(acceleration, i)
  if (angular_velocity)
    body[spinFrame === 'world' ? 'angular_velocity_world' : 'angular_velocity'] = rows.numbers(
      angular_velocity,
      i,
    )
  return body
}

class BatchReader {
  readonly #batch: Batch
  readonly #widths: ReadonlyMap<string, number>

  constructor(batch: Batch, widths: ReadonlyMap<string, number>) {
    this.#batch = batch
    this.#widths = widths
  }

  numbers(slices: readonly ColumnSlice[], row: number): number[] {
    const numbers: number[] = []
    for (const { column, from, count } of slices) {
      const values = this.#get(column)
      const start = row * (this.#widths.get(column) ?? 1) + from
      for (let k = start; k < start + count; k++) numbers.push(Number(values[k] ?? Number.NaN))
    }
    return numbers
  }

  value(column: string, row: number): number | bigint {
    const value = this.#get(column)[row]
    return typeof value === 'bigint' ? value : Number(value ?? Number.NaN)
  }

  equals(column: string, row: number, value: number | string): boolean {
    const ownValue = this.#get(column)[row]
    return typeof value === 'string' ? String(ownValue) === value : Number(ownValue) === value
  }

  text(column: string, row: number): string {
    return String(this.#get(column)[row] ?? '')
  }

  #get(column: string): Values {
    return this.#batch.columns.get(column) ?? new Float64Array()
  }
}

import type { Database } from 'better-sqlite3'

interface Clocks {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Monotonic milliseconds. */
  readonly monotonicNow: () => number
}

export interface AgingOptions {
  /** `table.column` of Unix times in milliseconds. */
  readonly columns: readonly string[]
  /** Rows older than this are not shifted. */
  readonly keepMs: number
  readonly now: Clocks['now']
  /** Default: `now`, with which no jump is detected. */
  readonly monotonicNow?: Clocks['monotonicNow'] | undefined
}

const minJumpMs = 60_000

/** Detects jumps of the system clock, for example after sleep. */
export class ClockJumpDetector {
  readonly #clocks: Clocks
  #offset: number

  constructor(clocks: Clocks) {
    this.#clocks = clocks
    this.#offset = clocks.now() - clocks.monotonicNow()
  }

  /** Returns the jump since the last detected one in whole milliseconds; 0 if it is under a minute. */
  detect(): number {
    const jump = Math.round(this.#clocks.now() - this.#clocks.monotonicNow() - this.#offset)
    if (Math.abs(jump) < minJumpMs) return 0
    this.#offset += jump
    return jump
  }
}

/** A clock for rows that expire. After a jump, it shifts their times by the same amount. */
export class AgingClock {
  readonly #jumpDetector: ClockJumpDetector
  readonly #now: () => number
  readonly #readShift: () => number
  readonly #shiftRows: (ms: number, nowMs: number) => void
  #hasJumped = false
  #totalMs = 0

  constructor(db: Database, { columns, keepMs, now, monotonicNow = now }: AgingOptions) {
    this.#jumpDetector = new ClockJumpDetector({ now, monotonicNow })
    this.#now = now
    // A rollback undoes the recorded shift together with the shifted rows.
    db.exec('CREATE TEMP TABLE aged (ms INTEGER NOT NULL); INSERT INTO aged VALUES (0)')
    const selectShift = db.prepare<[], number>('SELECT ms FROM aged').pluck()
    const addShift = db.prepare<[number]>('UPDATE aged SET ms = ms + ?')
    const shiftStatements = columns.map((path) => {
      const [table, column] = path.split('.')
      return db.prepare<[number, number]>(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} > ?`)
    })
    this.#readShift = () => selectShift.get() ?? 0
    this.#shiftRows = db.transaction((ms: number, nowMs: number) => {
      for (const statement of shiftStatements) statement.run(ms, nowMs - ms - keepMs)
      addShift.run(ms)
    })
  }

  now(): number {
    const jump = this.#jumpDetector.detect()
    this.#hasJumped ||= jump !== 0
    this.#totalMs += jump
    const now = this.#now()
    const ms = this.#hasJumped ? this.#totalMs - this.#readShift() : 0
    if (ms !== 0) this.#shiftRows(ms, now)
    return now
  }
}

/** A recorder in a separate process. Like the original, it does not have a busy timeout, and ends if a commit fails. */
import Database from 'better-sqlite3'
import { appendFrames, schema } from './write-recording.ts'

const [mode, file] = process.argv.slice(2)
if (mode === undefined || file === undefined) throw new Error('usage: writer-process <live|hot|wal> <file>')

const db = new Database(file, { timeout: 0 })
db.pragma('foreign_keys = OFF')
db.pragma(`journal_mode = ${mode === 'wal' ? 'WAL' : 'DELETE'}`)
db.exec(schema)
appendFrames(db, { frames: 20 }, 1)
const say = (message: object) => process.send?.(message)

if (mode === 'live') {
  let next = 21
  let commits = 0
  const flush = () => {
    // "database is locked" throws, which ends the process and the simulation.
    appendFrames(db, { frames: 5 }, next)
    next += 5
    commits++
  }
  const timer = setInterval(flush, 25)
  process.on('message', () => {
    clearInterval(timer)
    db.close()
    say({ commits, frames: next - 1 })
    process.disconnect()
  })
} else if (mode === 'hot') {
  // With a small cache, SQLite writes to the file before the commit. Only the journal can undo this.
  db.pragma('cache_size = 2')
  db.pragma('cache_spill = 1')
  db.exec('BEGIN IMMEDIATE')
  db.exec('UPDATE CoordinateRecord SET z = 666')
  for (let i = 0; i < 2000; i++) db.exec(`INSERT INTO SimulationFrameRecord VALUES (NULL, 666, 0)`)
  setInterval(() => {}, 1000)
} else {
  db.pragma('wal_autocheckpoint = 0')
  appendFrames(db, { frames: 10 }, 21)
  setInterval(() => {}, 1000)
}
say({ ready: true })

/** Kills recorders at random moments and checks what Causeway reads from their files. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { McapStreamReader } from '@mcap/core'
import t, { type Test } from 'tap'
import { mulberry32 } from '../../../fixtures/generate/mulberry32.ts'
import { isLong } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { folders, libraryOver } from './library-kit.ts'

t.setTimeout(300_000)

/** Number of times that each recorder is killed. */
const kills = isLong ? 20 : 5
const bodies = 60
const seed = Number(process.env.CAUSEWAY_SEED ?? Date.now() % 2 ** 31)
const random = mulberry32(seed)
const recorders = fileURLToPath(new URL('../../../recorders/', import.meta.url))

interface Program {
  readonly needs: string
  /**
   * Writes the program to a folder and compiles it. Returns the command, whose last argument is the file to record
   * to.
   */
  prepare(folder: string): readonly [string, ...string[]]
}

/**
 * Programs that record frames forever and write the number of each recorded frame to standard output. Body i of
 * frame n is at (i, n, i * n).
 */
const programs: Readonly<Record<string, Program>> = {
  Python: {
    needs: 'python3',
    prepare(folder) {
      const file = join(folder, 'record.py')
      writeFileSync(
        file,
        `import os, sys
sys.path.insert(0, ${JSON.stringify(join(recorders, 'python'))})
from causeway_recorder import Recorder
recorder = Recorder(sys.argv[1], [{"id": i, "mass": 1} for i in range(1, ${bodies + 1})], dt=0.01)
for frame in range(1, 10**6):
    recorder.frame(position=[[i, frame, i * frame] for i in range(1, ${bodies + 1})])
    os.write(1, b"%d\\n" % frame)
`,
      )
      return ['python3', '-B', file]
    },
  },
  JavaScript: {
    needs: process.execPath,
    prepare(folder) {
      const file = join(folder, 'record.mjs')
      const recorder = new URL('../../../recorders/js/recorder.js', import.meta.url)
      writeFileSync(
        file,
        `import { openSync, writeSync } from 'node:fs'
import { Recorder } from ${JSON.stringify(recorder)}
const file = openSync(process.argv[2], 'w')
const ids = Array.from({ length: ${bodies} }, (_, i) => i + 1)
const recorder = new Recorder((bytes) => writeSync(file, bytes), { dt: 0.01, bodies: ids.map((id) => ({ id, mass: 1 })) })
for (let frame = 1; frame < 1e6; frame++) {
  recorder.frame({ position: ids.map((i) => [i, frame, i * frame]) })
  writeSync(1, frame + '\\n')
}
`,
      )
      return [process.execPath, file]
    },
  },
  'C++': {
    needs: 'g++',
    prepare(folder) {
      const [file, program] = [join(folder, 'record.cpp'), join(folder, 'record')]
      writeFileSync(
        file,
        `#include "causeway.hpp"
#include <unistd.h>
int main(int, char** arguments) {
  causeway::Run run;
  run.dt = 0.01;
  run.bodies.resize(${bodies});
  for (std::uint32_t i = 1; i <= ${bodies}; i++) {
    run.bodies[i - 1].id = i;
    run.bodies[i - 1].mass = 1;
  }
  causeway::Recorder recorder(arguments[1], run);
  for (int n = 1; n < 1000000; n++) {
    causeway::Frame frame;
    for (int i = 1; i <= ${bodies}; i++) frame.position.insert(frame.position.end(), {1.0 * i, 1.0 * n, 1.0 * i * n});
    recorder.write(frame);
    const std::string line = std::to_string(n) + "\\n";
    if (::write(1, line.data(), line.size()) < 0) return 1;
  }
}
`,
      )
      const flags = ['-std=c++17', '-O1', '-I', join(recorders, 'cpp'), '-o', program, file]
      const { stderr } = spawnSync('g++', flags, { encoding: 'utf8' })
      if (stderr !== '') throw new Error(stderr)
      return [program]
    },
  },
}

/** Kills a recorder after about this number of frames. Returns the number of the last frame that it reported. */
async function killAfter([program, ...args]: readonly [string, ...string[]], frames: number) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let end = ''
  const last = () => Number(end.split('\n').at(-2))
  for await (const part of child.stdout) {
    end = `${end}${part}`.slice(-32)
    if (last() >= frames) child.kill('SIGKILL')
  }
  const [code, signal] = await closed
  if (signal !== 'SIGKILL') throw new Error(`the recorder ended with code ${code}`)
  return last()
}

/**
 * Reads a file with the MCAP library. Returns its number of frames, and the largest number of frames in a complete
 * chunk.
 */
function countFrames(file: string): { readonly total: number; readonly chunk: number } {
  const reader = new McapStreamReader()
  reader.append(readFileSync(file))
  let [total, before, chunk] = [0, 0, 0]
  for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
    if (record.type === 'Message' && record.channelId === 2) total += 1
    // The message indexes of a chunk follow the chunk.
    if (record.type === 'MessageIndex' && record.channelId === 2) {
      chunk = Math.max(chunk, total - before)
      before = total
    }
  }
  return { total, chunk }
}

async function checkKills(t: Test, program: Program) {
  t.comment(`CAUSEWAY_SEED=${seed}`)
  const { files, data, elsewhere } = folders(t)
  const command = program.prepare(elsewhere ?? '')
  const killed: { readonly name: string; readonly recorded: number }[] = []
  for (let i = 0; i < kills; i++) {
    const name = `killed-${i}.mcap`
    const frames = Math.ceil(600 * random())
    killed.push({ name, recorded: await killAfter([...command, join(files ?? '', name)], frames) })
  }
  const chunkFrames = Math.max(...killed.map(({ name }) => countFrames(join(files ?? '', name)).chunk))
  t.ok(chunkFrames > 50, `a chunk has ${chunkFrames} frames`)
  const library = await libraryOver(t, files ?? '', { dir: data ?? '' })
  for (const { name, recorded } of killed) {
    if (countFrames(join(files ?? '', name)).total === 0) {
      t.ok(recorded <= chunkFrames, `none of ${recorded} frames is stored`)
      await t.rejects(library.open(name), { code: 'NOT_A_RECORDING' })
      continue
    }
    const { recording } = await library.open(name)
    const stored = recording.summary.frames?.total_frames ?? 0
    t.match(recording.summary, { interrupted: true })
    t.ok(recorded - stored <= chunkFrames, `${stored} of ${recorded} frames are stored`)
    // The recorder may have been killed before it wrote the last line.
    t.ok(stored <= recorded + 1, 'stores no additional frames')
    t.match(recording.summary.frames, { first_frame: 1, last_frame: stored, contiguous: true })
    const { states } = await recording.frame(stored)
    t.same(
      states.map(({ position }) => position),
      Array.from({ length: bodies }, (_, i) => ({ x: i + 1, y: stored, z: (i + 1) * stored })),
    )
  }
}

for (const [name, program] of Object.entries(programs)) {
  const isMissing = spawnSync(program.needs, ['--version']).status !== 0
  if (isMissing) t.test(`the ${name} recorder`, { skip: `${program.needs} is not installed` }, async () => {})
  else
    verifies(
      'recording:files:killed',
      `a ${name} recorder that is killed at a random moment loses at most its last chunk`,
      (t) => checkKills(t, program),
    )
}

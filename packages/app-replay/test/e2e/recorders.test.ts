/** Tests of files that the recorders write. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { descriptor as jsDescriptor } from '../../../../recorders/js/descriptor.js'
import { inCI } from '../../../../test/tier.ts'
import { openReplay } from '../replay-kit.ts'

const recorders = fileURLToPath(new URL('../../../../recorders/', import.meta.url))
const example = join(recorders, 'python/examples/bouncing_ball.py')
const needs = (program: string) =>
  spawnSync(program, ['--version']).status === 0 ? {} : { skip: `${program} is not installed` }

t.test(
  'Replay opens an MCAP file by path and finds nothing in a correct simulation',
  needs('python3'),
  async (t) => {
    const { client, folder } = await openReplay(t, [])
    const replay = client()
    const { stdout } = spawnSync('python3', ['-B', example, join(folder, 'ball.mcap')], { encoding: 'utf8' })
    t.match(stdout, 'ball.mcap: 200 frames')
    t.match(await replay.call('list_recordings', {}), {
      recordings: [{ recording: 'ball', name: 'ball.mcap' }],
    })
    t.match(await replay.call('load_recording', { path: 'ball.mcap' }), { total_frames: 200, bodies: 1 })
    const { findings, checked, not_checked } = await replay.call('diagnose', {})
    t.same(findings, [])
    t.ok((checked as unknown[]).length > 5, 'the laws that the data allows were checked')
    t.ok((not_checked as unknown[]).length > 0, 'the other laws are listed')
    t.match(await replay.call('get_metadata', {}), { bodies: [{ body_id: 1, mass: 2 }], dt_s: 0.01 })
  },
)

t.test(
  'Replay opens a file of the C++ recorder and finds nothing in a box that slides',
  needs('g++'),
  inCI(async (t) => {
    const { client, folder } = await openReplay(t, [])
    const program = join(folder, 'sliding_box')
    const flags = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-o', program]
    const compiled = spawnSync('g++', [...flags, join(recorders, 'cpp/examples/sliding_box.cpp')], {
      encoding: 'utf8',
    })
    t.same({ status: compiled.status, stderr: compiled.stderr }, { status: 0, stderr: '' })
    const env = { ...process.env, CAUSEWAY_COMMIT: 'abc', CAUSEWAY_SEED: '7', CAUSEWAY_TAGS: 'ci,nightly' }
    const { stdout } = spawnSync(program, [join(folder, 'box.mcap')], { env, encoding: 'utf8' })
    t.match(stdout, 'box.mcap: 100 frames')
    const replay = client()
    t.match(await replay.call('load_recording', { path: 'box.mcap' }), {
      total_frames: 100,
      missing: ['solver'],
    })
    t.match(await replay.call('get_metadata', {}), {
      provenance: { commit: 'abc', seed: 7, tags: ['ci', 'nightly'] },
    })
    t.same((await replay.call('diagnose', {})).findings, [])
    t.match(await replay.call('check_friction_cone', { frame_id: 10 }), {
      violations: [{ exceeds_limit: false }],
    })
    spawnSync(program, [join(folder, 'belt.mcap'), '3'], { env })
    await replay.call('load_recording', { path: 'belt.mcap' })
    const belt = await replay.call('diagnose', {})
    t.same(belt.findings, [], 'a box on a belt with a declared velocity')
    t.match(belt, { checked: /sliding/, not_checked: [{ law: 'energy_budget' }] })
    t.notMatch(belt, { checked: /energy_budget/ })
    const print = 'from causeway_recorder._messages import *; print(file_descriptor_set().hex())'
    const python = { ...process.env, PYTHONPATH: join(recorders, 'python') }
    const descriptor = spawnSync('python3', ['-B', '-c', print], {
      env: python,
      encoding: 'utf8',
    }).stdout.trim()
    const file = readFileSync(join(folder, 'box.mcap'))
    t.ok(file.includes(Buffer.from(descriptor, 'hex')), 'C++ and Python describe the same messages')
    t.equal(Buffer.from(jsDescriptor, 'base64').toString('hex'), descriptor, 'JavaScript too')
    const repository = join(folder, 'repository')
    const git = (...args: readonly string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: repository,
        encoding: 'utf8',
      })
    mkdirSync(join(repository, 'build'), { recursive: true })
    git('init', '-q', '-b', 'feature/slide')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    const commit = git('rev-parse', 'HEAD').stdout.trim()
    const { PATH } = process.env
    const record = async (name: string, cwd: string) => {
      spawnSync(program, [join(folder, `${name}.mcap`)], { env: { PATH }, cwd })
      await replay.call('load_recording', { path: `${name}.mcap` })
      return (await replay.call('get_metadata', {})).provenance
    }
    t.match(await record('loose', join(repository, 'build')), { commit, branch: 'feature/slide' })
    git('pack-refs', '--all')
    t.match(await record('packed', repository), { commit, branch: 'feature/slide' })
    git('worktree', 'add', '-q', '-b', 'other', join(folder, 'worktree'))
    t.match(await record('worktree', join(folder, 'worktree')), { commit, branch: 'other' })
    git('checkout', '-q', '--detach')
    t.match(await record('detached', repository), { commit, branch: null })
    const full = spawnSync(program, ['/dev/full'], { encoding: 'utf8' })
    t.match(full, { status: 1, stdout: '/dev/full: cannot be written\n' })
  }),
)

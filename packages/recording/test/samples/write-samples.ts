/**
 * Writes the files of this folder with libraries of other authors: DuckDB 1.5.6, hyparquet-writer 0.17.0 and NumPy
 * 2.4.
 * `node --conditions=@causeway/source packages/recording/test/samples/write-samples.ts <folder with node_modules>`
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { tumble } from '../tumbling-top.ts'

export const sampleFrames = 120

if (import.meta.main) {
  const folder = import.meta.dirname
  const { resolve: find } = createRequire(join(resolve(process.argv[2] ?? '.'), 'x.js'))
  const rows = tumble(sampleFrames)
  const lines = rows.map(({ time, position, orientation: [w, ...axis], velocity, spin }) =>
    [time, ...position, ...axis, w, ...velocity, ...spin].join(','),
  )
  const names = 't,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz'
  writeFileSync(join(folder, 'top.csv'), `${[names, ...lines].join('\n')}\n`)
  const { DuckDBInstance } = await import(find('@duckdb/node-api'))
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  await db.run(`COPY (SELECT * FROM read_csv('${folder}/top.csv')) TO '${folder}/duckdb-zstd.parquet'
    (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`)
  await db.run(`COPY (SELECT CAST(round(t * 1e9) AS BIGINT) + 1700000000000000000 AS stamp, [x, y, z] AS top_position,
      [qx, qy, qz, qw] AS top_quaternion, [vx, vy, vz] AS top_velocity, [wx, wy, wz] AS top_angular_velocity, 'top' AS label
    FROM read_csv('${folder}/top.csv')) TO '${folder}/duckdb-lists.parquet' (FORMAT parquet, COMPRESSION gzip)`)
  const { parquetWriteFile } = await import(
    join(resolve(process.argv[2] ?? '.'), 'node_modules/hyparquet-writer/src/node.js')
  )
  const column = (name: string, data: readonly number[]) => ({ name, data, type: 'DOUBLE' })
  await parquetWriteFile({
    filename: join(folder, 'hyparquet-snappy.parquet'),
    columnData: names.split(',').map((name, i) =>
      column(
        name,
        lines.map((line) => Number(line.split(',')[i])),
      ),
    ),
    rowGroupSize: 50,
  })
  const python = `
import numpy as np
rows = np.genfromtxt('${folder}/top.csv', delimiter=',', names=True)
pick = lambda *names: np.stack([rows[n] for n in names], axis=1)
arrays = dict(t=rows['t'], top_pos=np.asfortranarray(pick('x', 'y', 'z')), top_quat=pick('qx', 'qy', 'qz', 'qw').astype('>f8'),
  top_vel=pick('vx', 'vy', 'vz'), top_angvel=pick('wx', 'wy', 'wz'), dt=np.float64(0.01), label=np.array(['top'] * len(rows)),
  other=np.zeros((7, 3), dtype=np.float32))
np.savez_compressed('${folder}/numpy.npz', **arrays)
np.savez('${folder}/numpy-pickled.npz', t=rows['t'], pos=pick('x', 'y', 'z'), notes=np.array([{'a': 1}, None], dtype=object))
`
  const { status, stderr } = spawnSync('python3', ['-c', python], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

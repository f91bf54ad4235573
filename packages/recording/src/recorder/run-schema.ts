/** The file of a run that we record: narrow frame rows for series, and a block of numbers a frame for the rest. */
import type { Migration } from '@causeway/store'

/** What became of a run: being recorded, ended by its engine, or left off. */
export type RunStatus = 'live' | 'finished' | 'interrupted'

/**
 * Is there a contact in any frame? A block begins with the number of its collisions, a float64, and may hold external
 * forces alone.
 */
export const anyContact = 'EXISTS (SELECT 1 FROM block WHERE substr(contacts, 1, 8) <> zeroblob(8))'

/** Schema of a run file, in order; a published step is never changed. */
export const runMigrations: readonly Migration[] = [
  {
    name: 'run',
    up: `
      CREATE TABLE run (
        id INTEGER PRIMARY KEY CHECK (id = 1), status TEXT NOT NULL, updated_ms INTEGER NOT NULL,
        engine TEXT, dt REAL, gravity_x REAL, gravity_y REAL, gravity_z REAL, lambda_unit TEXT,
        total_frames INTEGER NOT NULL, first_frame INTEGER, last_frame INTEGER
      ) STRICT;
      CREATE TABLE body (
        position INTEGER PRIMARY KEY, body_id INTEGER NOT NULL UNIQUE, is_declared INTEGER NOT NULL, mass REAL,
        restitution REAL, friction REAL, asset_id REAL, inertia_x REAL, inertia_y REAL, inertia_z REAL,
        extent_x REAL, extent_y REAL, extent_z REAL, first_frame INTEGER
      ) STRICT;
      CREATE TABLE frame (
        id INTEGER PRIMARY KEY, time REAL, wall_time REAL,
        linear_ke REAL, rotational_ke REAL, potential_e REAL, total_e REAL, delta_e REAL,
        energy_injection INTEGER, collision_active INTEGER,
        iterations REAL, residual REAL, converged INTEGER, num_constraints INTEGER, num_contacts INTEGER
      ) STRICT;
      CREATE TABLE block (
        frame_id INTEGER PRIMARY KEY REFERENCES frame(id), contacts BLOB, bodies BLOB NOT NULL
      ) STRICT;
    `,
  },
  {
    // An engine that never tells of contacts is known apart from one with nothing in touch.
    name: 'tells-contacts',
    up: `
      ALTER TABLE run ADD COLUMN tells_contacts INTEGER NOT NULL DEFAULT 0;
      UPDATE run SET tells_contacts = ${anyContact};
    `,
  },
]

/** The table that tells a run file of ours from everything else. */
export const runTable = 'block'

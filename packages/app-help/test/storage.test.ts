import t from 'tap'
import { openSqliteStorage } from '../src/sqlite/sqlite-storage.ts'
import { storageContract } from './storage-contract.ts'

storageContract('SQLite', t, async (_t, folder, now) => openSqliteStorage(folder, now))

import { applyCandidate } from '../../../src/domain/candidate/apply.ts'
import type { AppliedCandidate, Candidate, Edit, FileContent } from '../../../src/domain/candidate/types.ts'

export const applied = (
  files: Readonly<Record<string, FileContent>>,
  candidate: Candidate,
): AppliedCandidate => applyCandidate(new Map(Object.entries(files)), candidate)

/** Returns the files after a candidate, with `null` for a removed file. */
export const after = (files: Readonly<Record<string, FileContent>>, candidate: Candidate) =>
  Object.fromEntries(applied(files, candidate).changes)

export const edited = (text: string, ...edits: readonly Edit[]) =>
  after({ 'a.txt': text }, { mode: 'modify', changes: [{ path: 'a.txt', edits }] })['a.txt']

export const diffed = (text: string, diff: string) =>
  after({ 'a.txt': text }, { mode: 'diff', changes: [{ path: 'a.txt', diff }] })['a.txt']

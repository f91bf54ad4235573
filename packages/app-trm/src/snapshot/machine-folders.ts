/** Folders that tools fill and can fill again; never part of a snapshot of a whole project. */
export const machineFolders: readonly string[] = [
  'node_modules',
  '.venv',
  'venv',
  '.tox',
  '__pycache__',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
]

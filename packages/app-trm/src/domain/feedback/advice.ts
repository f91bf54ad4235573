/** Python distributions by module, if the two names differ. */
const distributions: Readonly<Record<string, string>> = {
  bs4: 'beautifulsoup4',
  cv2: 'opencv-python',
  dateutil: 'python-dateutil',
  dotenv: 'python-dotenv',
  PIL: 'Pillow',
  serial: 'pyserial',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  yaml: 'PyYAML',
}

/** Returns whether a top-level module is part of the project, or `undefined` if unknown. */
export type HasModule = (name: string) => boolean | undefined

/** Patterns of exceptions by their advice, in which `$1` and `$2` stand for groups. The first match counts. */
const pythonRules: Readonly<Record<string, RegExp>> = {
  "import or define '$1' before it is used": /^NameError: [\s\S]*?name '([^']+)' is not defined/,
  "check that $2 defines '$1' and that the two do not import each other":
    /^ImportError: [\s\S]*?cannot import name '([^']+)' from (?:partially initialized module )?'([^']+)'/,
  'pass $2 to $1(), or add defaults':
    /^TypeError: [\s\S]*?(\S+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)/,
  'call $1() with fewer arguments, or add parameters (self counts)':
    /^TypeError: [\s\S]*?(\S+)\(\) takes .+ but \d+ (?:was|were) given/,
  'find the function that returned None instead of a value': /^TypeError: [\s\S]*?'NoneType' object/,
  "the object of '$1' equals None: find the code that returned it":
    /^AttributeError: [\s\S]*?'NoneType' object has no attribute '([^']+)'/,
  "check the spelling of '$2', and that no file of the project hides the module $1":
    /^AttributeError: [\s\S]*?module '([^']+)' has no attribute '([^']+)'/,
  "check the spelling of '$2' and whether $1 is the intended type":
    /^AttributeError: [\s\S]*?'([^']+)' object has no attribute '([^']+)'/,
  'indent the block by four blanks more than its header, without tabs': /^(?:IndentationError|TabError): ./,
  'correct this line, or an open bracket or string on the line above it': /^SyntaxError: ./,
  'check that $1 exists before it is read, or use .get': /^KeyError: (.+)/,
  'check the length before indexing; the sequence may be empty': /^IndexError: ./,
  'use .any(), .all() or .empty, and & | ~ with brackets instead of and, or, not':
    /^ValueError: [\s\S]*?truth value of a (?:Series|DataFrame|array)/,
}

export function advisePython(
  { type, message }: { readonly type: string; readonly message: string },
  hasModule: HasModule,
): string | undefined {
  const suggestedName = /Did you mean: '([^']+)'\?/.exec(message)?.[1]
  if (suggestedName !== undefined) return `write '${suggestedName}', as Python suggests`
  const name = type.split('.').at(-1) ?? type
  const module = /^(?:ModuleNotFoundError|ImportError)$/.test(name)
    ? /No module named '([^']+)'/.exec(message)?.[1]
    : undefined
  if (module !== undefined) return adviseMissingModule(module, hasModule)
  for (const [advice, pattern] of Object.entries(pythonRules)) {
    const groups = pattern.exec(`${name}: ${message}`)
    if (groups) return advice.replace(/\$(\d)/g, (_, index) => groups[Number(index)] ?? '')
  }
  return undefined
}

function adviseMissingModule(name: string, hasModule: HasModule): string {
  const topLevelName = name.split('.')[0] ?? name
  const isProjectModule = hasModule(topLevelName)
  if (isProjectModule)
    return `'${name}' is part of the project: run from its folder, or put that on PYTHONPATH; do not install it`
  const distribution = Object.hasOwn(distributions, topLevelName) ? distributions[topLevelName] : topLevelName
  const advice = `declare the dependency ${distribution}, which contains the module ${topLevelName}, or remove the import`
  return isProjectModule === undefined
    ? `put the project on PYTHONPATH if '${name}' is part of it, else ${advice}`
    : advice
}

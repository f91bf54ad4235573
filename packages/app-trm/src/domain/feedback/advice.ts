/** Distributions whose module has another name. */
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

/** Whether a top-level module is part of the project; `undefined` if that is unknown. */
export type HasModule = (name: string) => boolean | undefined

/** Class of the exception, pattern of its message, and the advice with `$1`, `$2` for groups. The first match counts. */
const pythonRules: readonly (readonly [RegExp, RegExp, string])[] = [
  [/^NameError$/, /name '([^']+)' is not defined/, "import or define '$1' before it is used"],
  [
    /^UnboundLocalError$/,
    /variable '([^']+)'/,
    "assign '$1' on every path before it is read, or declare it global or nonlocal",
  ],
  [
    /^ImportError$/,
    /cannot import name '([^']+)' from (?:partially initialized module )?'([^']+)'/,
    "check that $2 defines '$1' and that the two do not import each other",
  ],
  [
    /^TypeError$/,
    /(\S+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)/,
    'pass $2 to $1(), or add defaults',
  ],
  [
    /^TypeError$/,
    /(\S+)\(\) takes .+ but \d+ (?:was|were) given/,
    'call $1() with fewer arguments, or add parameters (self counts)',
  ],
  [
    /^TypeError$/,
    /(\S+)\(\) got an unexpected keyword argument '([^']+)'/,
    "remove '$2' from the call of $1(), or add the parameter",
  ],
  [/^TypeError$/, /'NoneType' object/, 'find the function that returned None instead of a value'],
  [
    /^TypeError$/,
    /unsupported operand type\(s\) for (\S+): '([^']+)' and '([^']+)'/,
    'convert one operand of $1: they are $2 and $3',
  ],
  [
    /^AttributeError$/,
    /'NoneType' object has no attribute '([^']+)'/,
    "the object of '$1' equals None: find the code that returned it",
  ],
  [
    /^AttributeError$/,
    /module '([^']+)' has no attribute '([^']+)'/,
    "check the spelling of '$2', and that no file of the project hides the module $1",
  ],
  [
    /^AttributeError$/,
    /'([^']+)' object has no attribute '([^']+)'/,
    "check the spelling of '$2' and whether $1 is the intended type",
  ],
  [
    /^(IndentationError|TabError)$/,
    /./,
    'indent the block by four blanks more than its header, without tabs',
  ],
  [/^SyntaxError$/, /was never closed/, 'close the bracket that this line opens'],
  [/^SyntaxError$/, /./, 'correct this line, or an open bracket or string on the line above it'],
  [/^KeyError$/, /(.+)/, 'check that $1 exists before it is read, or use .get'],
  [/^IndexError$/, /./, 'check the length before indexing; the sequence may be empty'],
  [/^ZeroDivisionError$/, /./, 'define the result for a divisor of zero'],
  [/^(?:FileNotFoundError|NotADirectoryError)$/, /'([^']+)'/, 'create $1, or build its path from __file__'],
  [
    /^ValueError$/,
    /invalid literal for int\(\) with base \d+: (.+)/,
    'strip or check $1 before it is converted to int',
  ],
  [
    /^ValueError$/,
    /could not convert string to float: (.+)/,
    "clean $1 first, or use pandas.to_numeric(…, errors='coerce')",
  ],
  [
    /^ValueError$/,
    /truth value of a (?:Series|DataFrame|array)/,
    'use .any(), .all() or .empty, and & | ~ with brackets instead of and, or, not',
  ],
]

const typescriptAdvice: Readonly<Record<string, string>> = {
  TS2304: 'import or declare the name',
  TS2305: 'check the name of the export',
  TS2307: 'check the path of the module, or install it with its types',
  TS2322: 'make the value have the declared type, or correct the declaration',
  TS2339: 'check the spelling of the property, or add it to the type',
  TS2345: 'pass an argument of the parameter type, or widen the parameter',
  TS2531: 'check for null before use',
  TS2532: 'check for undefined before use',
  TS2551: 'use the spelling that the compiler suggests',
  TS2554: 'pass as many arguments as the function declares',
  TS2741: 'add the missing property',
  TS7006: 'declare the type of the parameter',
  TS18047: 'check for null before use',
  TS18048: 'check for undefined before use',
}

/** Returns advice for a Python exception; `undefined` if its cause is unclear. */
export function advisePython(
  { type, message }: { readonly type: string; readonly message: string },
  hasModule: HasModule,
): string | undefined {
  const suggested = /Did you mean: '([^']+)'\?/.exec(message)?.[1]
  if (suggested !== undefined) return `write '${suggested}', as Python suggests`
  const name = type.split('.').at(-1) ?? type
  const module = /^(?:ModuleNotFoundError|ImportError)$/.test(name)
    ? /No module named '([^']+)'/.exec(message)?.[1]
    : undefined
  if (module !== undefined) return adviseMissingModule(module, hasModule)
  for (const [types, pattern, advice] of pythonRules) {
    const groups = types.test(name) ? pattern.exec(message) : null
    if (groups) return advice.replace(/\$(\d)/g, (_, index) => groups[Number(index)] ?? '')
  }
  return undefined
}

/** Returns advice for a code of the TypeScript compiler. */
export const adviseTypescript = (code: string): string | undefined =>
  Object.hasOwn(typescriptAdvice, code) ? typescriptAdvice[code] : undefined

function adviseMissingModule(name: string, hasModule: HasModule): string {
  const top = name.split('.')[0] ?? name
  const isOwn = hasModule(top)
  if (isOwn)
    return `'${name}' is part of the project: run from its folder, or put that on PYTHONPATH; do not install it`
  const distribution = Object.hasOwn(distributions, top) ? distributions[top] : top
  const declare = `declare the dependency ${distribution}, which contains the module ${top}, or remove the import`
  return isOwn === undefined
    ? `put the project on PYTHONPATH if '${name}' is part of it, else ${declare}`
    : declare
}

/** What to do about an error, by its kind. Names keep their letters: `DataFrame` is not `dataframe`. */

/** Distributions that install a module under another name. */
const distributions: Readonly<Record<string, string>> = {
  bs4: 'beautifulsoup4',
  cv2: 'opencv-python',
  dateutil: 'python-dateutil',
  dotenv: 'python-dotenv',
  fitz: 'PyMuPDF',
  git: 'GitPython',
  PIL: 'Pillow',
  serial: 'pyserial',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  yaml: 'PyYAML',
}

/** What is known of a project. */
export interface ProjectNames {
  /** True for a top-level module that the project itself holds; undefined where that is not known. */
  readonly hasModule: (name: string) => boolean | undefined
}

type Advise = (found: readonly string[], project: ProjectNames) => string

/** Kind of exception, what its message looks like, and what to do. The first that fits counts. */
const python: readonly (readonly [RegExp, RegExp, Advise])[] = [
  [
    /^NameError$/,
    /name '([^']+)' is not defined/,
    ([name]) => `import or define '${name}' before it is used`,
  ],
  [
    /^UnboundLocalError$/,
    /variable '([^']+)'/,
    ([name]) => `assign '${name}' on every path before it is read, or declare it global or nonlocal`,
  ],
  [
    /^(ModuleNotFoundError|ImportError)$/,
    /No module named '([^']+)'/,
    ([name = ''], project) => missingModule(name, project),
  ],
  [
    /^ImportError$/,
    /cannot import name '([^']+)' from (?:partially initialized module )?'([^']+)'/,
    ([name, module]) => `check that ${module} defines '${name}' and that the two do not import each other`,
  ],
  [
    /^TypeError$/,
    /(\S+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)/,
    ([name, args]) => `pass ${args} to ${name}(), or give defaults`,
  ],
  [
    /^TypeError$/,
    /(\S+)\(\) takes (.+) but (\d+) (?:was|were) given/,
    ([name]) => `call ${name}() with fewer arguments, or add parameters (self counts)`,
  ],
  [
    /^TypeError$/,
    /(\S+)\(\) got an unexpected keyword argument '([^']+)'/,
    ([name, arg]) => `remove '${arg}' from the call of ${name}(), or add the parameter`,
  ],
  [
    /^TypeError$/,
    /'NoneType' object/,
    () => 'a function returned None where a value was expected: find which one',
  ],
  [
    /^TypeError$/,
    /unsupported operand type\(s\) for (\S+): '([^']+)' and '([^']+)'/,
    ([op, left, right]) => `convert one side of ${op}: it is ${left} and ${right}`,
  ],
  [
    /^AttributeError$/,
    /'NoneType' object has no attribute '([^']+)'/,
    ([name]) => `what '${name}' is taken of is None: find what returned it`,
  ],
  [
    /^AttributeError$/,
    /module '([^']+)' has no attribute '([^']+)'/,
    ([module, name]) =>
      `check the spelling of '${name}', and that no file of the project hides the module ${module}`,
  ],
  [
    /^AttributeError$/,
    /'([^']+)' object has no attribute '([^']+)'/,
    ([type, name]) => `check the spelling of '${name}' and whether ${type} is the type that is meant`,
  ],
  [
    /^(IndentationError|TabError)$/,
    /./,
    () => 'indent the block by four blanks more than its header, without tabs',
  ],
  [/^SyntaxError$/, /was never closed/, () => 'close the bracket that this line opens'],
  [/^SyntaxError$/, /./, () => 'correct this line, or an open bracket or string on the line above it'],
  [/^KeyError$/, /(.+)/, ([key]) => `check that ${key} is there before it is read, or use .get`],
  [/^IndexError$/, /./, () => 'check the length before indexing; an empty sequence is the usual cause'],
  [/^ZeroDivisionError$/, /./, () => 'say what the result is where the divisor is zero'],
  [
    /^(FileNotFoundError|NotADirectoryError)$/,
    /'([^']+)'/,
    ([path]) => `create ${path}, or build its path from __file__`,
  ],
  [/^RecursionError$/, /./, () => 'add the case that ends the recursion'],
  [/^UnicodeDecodeError$/, /./, () => "open the file with the encoding it has, as in encoding='utf-8'"],
  [
    /^ValueError$/,
    /invalid literal for int\(\) with base \d+: (.+)/,
    ([text]) => `strip or check ${text} before it is converted to int`,
  ],
  [
    /^ValueError$/,
    /could not convert string to float: (.+)/,
    ([text]) => `clean ${text} first, or use pandas.to_numeric(…, errors='coerce')`,
  ],
  [
    /^ValueError$/,
    /(?:too many|not enough) values to unpack/,
    () => 'match the number of names on the left with the values on the right',
  ],
  [
    /^ValueError$/,
    /truth value of a (?:Series|DataFrame|array)/,
    () => 'use .any(), .all() or .empty, and & | ~ with brackets instead of and, or, not',
  ],
  [/^(StopIteration)$/, /^/, () => 'give next() a default, or loop with for'],
]

/** TypeScript, by code. */
const typescript: Readonly<Record<string, string>> = {
  TS2304: 'import or declare the name',
  TS2305: 'check the name of the export',
  TS2307: 'check the path of the module, or install it with its types',
  TS2322: 'make the value have the declared type, or correct the declaration',
  TS2339: 'check the spelling of the property, or add it to the type',
  TS2345: 'pass an argument of the parameter type, or widen the parameter',
  TS2353: 'remove the property that the type does not have, or add it to the type',
  TS2488: 'make the value iterable, or check for undefined first',
  TS2531: 'check for null before use',
  TS2532: 'check for undefined before use',
  TS2551: 'use the spelling that the compiler names',
  TS2552: 'use the spelling that the compiler names',
  TS2554: 'pass as many arguments as the function declares',
  TS2556: 'spread a tuple or pass the arguments one by one',
  TS2741: 'add the missing property',
  TS2769: 'no overload fits: compare the arguments with the signatures',
  TS7006: 'give the parameter a type',
  TS7031: 'give the destructured parameter a type',
  TS18047: 'check for null before use',
  TS18048: 'check for undefined before use',
}

/** What to do about an exception; undefined where nothing sure can be said. */
export function pythonAdvice(
  { type, message }: { readonly type: string; readonly message: string },
  project: ProjectNames,
): string | undefined {
  const meant = /Did you mean: '([^']+)'\?/.exec(message)?.[1]
  if (meant !== undefined) return `write '${meant}', as Python suggests`
  const plain = type.split('.').at(-1) ?? type
  for (const [kind, looks, advise] of python) {
    const found = kind.test(plain) ? looks.exec(message) : null
    if (found) return advise(found.slice(1), project)
  }
  return undefined
}

/** What to do about a complaint of the TypeScript compiler. */
export const typescriptAdvice = (code: string): string | undefined =>
  Object.hasOwn(typescript, code) ? typescript[code] : undefined

function missingModule(name: string, { hasModule }: ProjectNames): string {
  const top = name.split('.')[0] ?? name
  const isOwn = hasModule(top)
  if (isOwn) {
    return `'${name}' is part of the project: run from its folder, or put that on PYTHONPATH; do not install it`
  }
  const distribution = Object.hasOwn(distributions, top) ? distributions[top] : top
  const declare = `declare the dependency ${distribution}, which holds the module ${top}, or do without it`
  return isOwn === undefined
    ? `put the project on PYTHONPATH if '${name}' is part of it, else ${declare}`
    : declare
}

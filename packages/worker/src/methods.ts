/** What a worker does, by name: one argument and one answer each, both structured-cloneable. */
export type MethodTable<Table> = { readonly [Name in keyof Table]: (args: never) => unknown }

/** Name of a method. */
export type MethodName<Table> = keyof Table & string

/** Argument of a method. */
export type ArgsOf<Table extends MethodTable<Table>, Name extends keyof Table> = Parameters<Table[Name]>[0]

/** Answer of a method. */
export type AnswerOf<Table extends MethodTable<Table>, Name extends keyof Table> = Awaited<
  ReturnType<Table[Name]>
>

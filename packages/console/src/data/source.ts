/** Calls tools and reads resources, either of the server that served the page or through the host of an MCP App. */
export interface Source {
  /** Returns the structured result of a tool. `app` is a path such as `replay`. Throws `ServerError`. */
  call<T>(app: string, tool: string, args: object, options?: { readonly signal?: AbortSignal }): Promise<T>
  /** Returns the JSON of an MCP resource. Throws `ServerError`. */
  read<T>(app: string, uri: string, options?: { readonly signal?: AbortSignal }): Promise<T>
}

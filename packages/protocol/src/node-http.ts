/**
 * Returns `node:http`. An ES import reads all of its exports, and the getter of `WebSocket` loads Node's own copy of undici, which needs
 * 13 MB of memory in Node 24.
 */
export const nodeHttp = () => process.getBuiltinModule('node:http')

/** undici's internal modules. Importing the whole package increases the start time by half. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}

declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici'
}

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}

declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kParser: unique symbol }
  export default symbols
}

export { builtInApps } from './apps.ts'
export { settingTable } from './config/config.ts'

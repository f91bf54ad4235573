export { type SettingRow, settingTable } from './config.ts'
export { builtInApps } from './print-tools.ts'

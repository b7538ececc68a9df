import { formatSwitch, setMember, type Settings, Switch, takeValuesAlone } from './setting.ts'

/** Whether the machine has a screen. */
export const displaySettings: Settings = takeValuesAlone({
  set: setMember('display', Switch, ({ display }) => formatSwitch(display)),
})

import type { UnitOptions } from './systemd-unit.ts'

/** The label of the service in launchd. */
export const launchdLabel = 'vmhost'

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const formatStrings = (texts: readonly string[]): string =>
  texts.map(text => `    <string>${escape(text)}</string>`).join('\n')

/** Formats the property list of the service for launchd. `logFile` gets the log of the service. */
export const formatPlist = (
  { program, user, config, state }: Omit<UnitOptions, 'hasKvmGroup'>,
  logFile: string,
): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by vmhost service install, which replaces it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchdLabel}</string>
  <key>ProgramArguments</key>
  <array>
${formatStrings([...program, 'serve', '--config', config, '--state', state])}
  </array>
  <key>UserName</key>
  <string>${escape(user)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <!-- launchd ends only the service: the QEMU machines and the recorder of their serial output outlive it. -->
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>${escape(logFile)}</string>
  <key>StandardErrorPath</key>
  <string>${escape(logFile)}</string>
</dict>
</plist>
`

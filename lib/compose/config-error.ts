/** A wrong setting. The message has the setting, its source, and what it must be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

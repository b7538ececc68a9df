export const main = async (_argv: readonly string[], _entry: URL): Promise<void> => {}

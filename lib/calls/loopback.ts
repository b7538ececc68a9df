/** Whether the host of a URL is this computer by its name alone. Only there may secrets travel over plain HTTP. */
export const isLoopbackHost = (hostname: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname)

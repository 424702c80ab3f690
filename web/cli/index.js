/** Returns the given config. Its type lets editors complete the members. */
export const defineConfig = (config) => config;

// Vite turns an imported stylesheet into a file of its own, loaded with the part that imports it.
declare module "*.css";

// What `npm run bench -- store` runs.
import "./ingest.js";

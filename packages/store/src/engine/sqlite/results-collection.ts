/** The collection whose documents expire after seven days: answers that were too large to be given whole. */
export const RESULTS_COLLECTION = "results";

// HelperFormatsTests

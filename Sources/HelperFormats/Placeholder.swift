// HelperFormats
